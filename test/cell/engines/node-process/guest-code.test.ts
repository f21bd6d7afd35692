import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stageGuestCode } from '../../../../src/cell/engines/node-process/guest-code.ts';
import { sweepOtherVersions } from '../../../../src/cell/engines/node-process/staged-folders.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

let home: string;

beforeEach(() => {
  home = openFolder();
  // All tests share staged code; these are about staging it.
  vi.stubEnv('SKILLCELL_ENGINES', undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  removeFolder(home);
});

describe('staged guest code', () => {
  it('is plain JavaScript with relative imports, readable by every user', () => {
    const staged = stageGuestCode(home, 'wasm');
    const main = readFileSync(join(staged, 'cell', 'main.js'), 'utf8');
    expect(main).toContain("from './channel.js'");
    expect(main).not.toMatch(/from '\.[^']*\.ts'|: void|interface /);
    expect(readdirSync(staged, { recursive: true }).filter((name) => String(name).endsWith('.ts'))).toEqual(
      [],
    );
    for (const name of ['.', 'cell', 'cell/main.js'])
      expect(statSync(join(staged, name)).mode & 0o004).toBe(0o004);
  });

  it('is staged only once', () => {
    const staged = stageGuestCode(home, 'wasm');
    const made = statSync(join(staged, 'package.json')).mtimeMs;
    expect(stageGuestCode(home, 'wasm')).toBe(staged);
    expect(statSync(join(staged, 'package.json')).mtimeMs).toBe(made);
    expect(readdirSync(join(home, 'guest'))).toHaveLength(1);
  });

  it('is not confused with another version or an unfinished one', () => {
    for (const stale of ['wasm-0123456789abcdef0123456789abcdef', 'wasm-0123.unfinished']) {
      mkdirSync(join(home, 'guest', stale), { recursive: true });
      writeFileSync(join(home, 'guest', stale, 'package.json'), 'stale');
    }
    const staged = stageGuestCode(home, 'wasm');
    expect(readFileSync(join(staged, 'package.json'), 'utf8')).toBe('{"type":"module"}');
    expect(readdirSync(join(home, 'guest'))).toHaveLength(3);
  });

  it('replaces versions that were not used for a week, and keeps the others', () => {
    const day = 24 * 60 * 60 * 1000;
    const folder = (path: string, days: number): string => {
      const made = join(home, path);
      mkdirSync(made, { recursive: true });
      writeFileSync(join(made, 'file'), 'old');
      const then = new Date(Date.now() - days * day);
      utimesSync(made, then, then);
      return path;
    };
    const old = [
      'guest/wasm-0123',
      'guest/wasm-0123.draft',
      'wasm/aa-wasm-0123',
      'wasm/aa-wasm-0123.x.verified',
    ];
    const recent = ['guest/wasm-4567', 'wasm/aa-wasm-4567'];
    for (const path of old) folder(path, 8);
    for (const path of recent) folder(path, 6);
    folder('store/not-ours', 100);
    const present = basename(stageGuestCode(home, 'wasm'));
    const names = (place: string): string[] => readdirSync(join(home, place)).sort();
    expect(names('guest')).toEqual(['wasm-4567', present].sort());
    expect(names('wasm')).toEqual(['aa-wasm-4567']);
    expect(names('store')).toEqual(['not-ours']);
  });

  it('is kept with its binaries while it is the current version, even if unused', () => {
    const staged = stageGuestCode(home, 'wasm');
    const binary = join(home, 'wasm', `aa-${basename(staged)}`);
    mkdirSync(binary, { recursive: true });
    for (const made of [staged, binary]) utimesSync(made, 1, 1);
    sweepOtherVersions(home, basename(staged));
    expect([existsSync(staged), existsSync(binary)]).toEqual([true, true]);
    // After another use, the sweep of any other version keeps it too.
    expect(stageGuestCode(home, 'wasm')).toBe(staged);
    sweepOtherVersions(home, 'wasm-of-tomorrow');
    expect([existsSync(staged), existsSync(binary)]).toEqual([true, false]);
  });

  it.each([
    ['is taken', 0o700, true],
    ['is not taken if other users can write there', 0o777, false],
  ])('that another home shared %s', (_, mode, isTaken) => {
    const shared = join(home, 'shared');
    vi.stubEnv('SKILLCELL_ENGINES', shared);
    const version = basename(stageGuestCode(join(home, 'one'), 'node'));
    writeFileSync(join(shared, version, 'from-the-shared-folder'), '');
    chmodSync(shared, mode);
    const staged = stageGuestCode(join(home, 'two'), 'node');
    expect(basename(staged)).toBe(version);
    expect(existsSync(join(staged, 'package.json'))).toBe(true);
    expect(existsSync(join(staged, 'from-the-shared-folder'))).toBe(isTaken);
  });

  it('can be staged by several processes at the same time', async () => {
    const module = new URL('../../../../src/cell/engines/node-process/guest-code.ts', import.meta.url).href;
    const script = `const { stageGuestCode } = await import(${JSON.stringify(module)});
      process.stdout.write(stageGuestCode(${JSON.stringify(home)}, 'wasm'));`;
    const found = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const text = child.stdout.setEncoding('utf8').toArray();
        const [code] = (await once(child, 'exit')) as [number];
        return [code, (await text).join('')];
      }),
    );
    const staged = stageGuestCode(home, 'wasm');
    expect(found).toEqual(found.map(() => [0, staged]));
    expect(readdirSync(join(home, 'guest'))).toHaveLength(1);
  });
});
