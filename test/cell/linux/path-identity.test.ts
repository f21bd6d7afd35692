import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identityInside, pathIdentity } from '../../../src/cell/linux/path-identity.ts';
import { tempDir } from '../../load/helpers.ts';

function identityByStat(path: string): { dev: number; ino: number } {
  const { dev, ino } = statSync(path);
  return { dev, ino };
}

describe('pathIdentity', () => {
  test('equals the result of stat for a folder, a file and the root', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'a b/ü'), { recursive: true });
    writeFileSync(join(folder, 'a b/ü/file'), '');
    for (const path of [folder, join(folder, 'a b/ü'), join(folder, 'a b/ü/file'), '/']) {
      expect(pathIdentity(path)).toEqual(identityByStat(path));
    }
  });

  test('follows no symlinks, neither in the last segment nor before it', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'real/inner'), { recursive: true });
    symlinkSync('real', join(folder, 'link'));
    expect(() => pathIdentity(join(folder, 'link'))).toThrow('"link" in');
    // The kernel reports a symlink or a file that is not a folder; both are refused.
    expect(() => pathIdentity(join(folder, 'link/inner'))).toThrow();
    expect(() => pathIdentity(join(folder, 'missing'))).toThrow(/ENOENT/);
  });

  test('changes if the folder is replaced', () => {
    const folder = tempDir();
    const granted = join(folder, 'granted');
    mkdirSync(granted);
    const before = pathIdentity(granted);
    renameSync(granted, join(folder, 'aside'));
    mkdirSync(granted);
    expect(pathIdentity(granted)).not.toEqual(before);
    expect(pathIdentity(join(folder, 'aside'))).toEqual(before);
  });

  test('leaves no descriptor open, on success and on failure', () => {
    const folder = tempDir();
    symlinkSync('/', join(folder, 'link'));
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let n = 0; n < 50; n++) {
      pathIdentity(folder);
      expect(() => pathIdentity(join(folder, 'link/etc'))).toThrow();
    }
    expect(open()).toBe(before);
  });

  test('of a guest path is looked up in the root of the process', () => {
    expect(identityInside(process.pid, '/usr')).toEqual(identityByStat('/usr'));
  });
});
