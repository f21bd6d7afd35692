import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identityInside, pathIdentity } from '../../../src/cell/jail/path-identity.ts';
import { tempDir } from '../../load/helpers.ts';

function identityByStat(path: string): { dev: number; ino: number } {
  const { dev, ino } = statSync(path);
  return { dev, ino };
}

describe('pathIdentity', () => {
  test('is what stat says, for a folder, a file and the root', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'a b/ü'), { recursive: true });
    writeFileSync(join(folder, 'a b/ü/file'), '');
    for (const path of [folder, join(folder, 'a b/ü'), join(folder, 'a b/ü/file'), '/']) {
      expect(pathIdentity(path)).toEqual(identityByStat(path));
    }
  });

  test('follows no link, neither at the end nor on the way', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'real/inner'), { recursive: true });
    symlinkSync('real', join(folder, 'link'));
    expect(() => pathIdentity(join(folder, 'link'))).toThrow('"link" in');
    // Seen as a link or as no folder: the kernel says the one or the other, and neither lets us in.
    expect(() => pathIdentity(join(folder, 'link/inner'))).toThrow();
    expect(() => pathIdentity(join(folder, 'missing'))).toThrow(/ENOENT/);
  });

  test('is another one after the folder was replaced', () => {
    const folder = tempDir();
    const granted = join(folder, 'granted');
    mkdirSync(granted);
    const before = pathIdentity(granted);
    renameSync(granted, join(folder, 'aside'));
    mkdirSync(granted);
    expect(pathIdentity(granted)).not.toEqual(before);
    expect(pathIdentity(join(folder, 'aside'))).toEqual(before);
  });

  test('leaves no descriptor open, whether it succeeds or not', () => {
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

  test('of another process is that of its own root', () => {
    expect(identityInside(process.pid, '/usr')).toEqual(identityByStat('/usr'));
  });
});
