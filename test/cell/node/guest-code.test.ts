import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stageGuestCode } from '../../../src/cell/node/guest-code.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';

let home: string;

beforeEach(() => {
  home = openFolder();
});

afterEach(() => removeFolder(home));

describe('staged guest code', () => {
  it('is plain JavaScript that imports its own files, readable for every user', () => {
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

  it('is made once', () => {
    const staged = stageGuestCode(home, 'wasm');
    const made = statSync(join(staged, 'package.json')).mtimeMs;
    expect(stageGuestCode(home, 'wasm')).toBe(staged);
    expect(statSync(join(staged, 'package.json')).mtimeMs).toBe(made);
    expect(readdirSync(join(home, 'guest'))).toHaveLength(1);
  });

  it('is not mistaken for another version, or for one that was never finished', () => {
    for (const stale of ['wasm-0123456789abcdef0123456789abcdef', 'wasm-0123.unfinished']) {
      mkdirSync(join(home, 'guest', stale), { recursive: true });
      writeFileSync(join(home, 'guest', stale, 'package.json'), 'stale');
    }
    const staged = stageGuestCode(home, 'wasm');
    expect(readFileSync(join(staged, 'package.json'), 'utf8')).toBe('{"type":"module"}');
    expect(readdirSync(join(home, 'guest'))).toHaveLength(3);
  });

  it('may be made by several processes at once', async () => {
    const module = new URL('../../../src/cell/node/guest-code.ts', import.meta.url).href;
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
