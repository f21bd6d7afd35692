import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileLock } from '../../src/load/file-lock.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();
let path: string;

beforeEach(() => {
  path = folder.at('one.lock');
});

/** Another process that holds the lock until it is killed. */
async function holder(program: string[] = []): Promise<ReturnType<typeof spawn>> {
  const source = join(import.meta.dirname, '../../src/load/file-lock.ts');
  const script = `
    const { FileLock } = await import(${JSON.stringify(source)});
    globalThis.lock = FileLock.create(${JSON.stringify(path)});
    process.stdout.write(globalThis.lock ? 'held' : 'not held');
    setInterval(() => undefined, 1000);`;
  const [command, ...args] = [...program, process.execPath, '--input-type=module', '-e', script];
  const child = spawn(command ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  expect(said.toString()).toBe('held');
  return child;
}

describe('FileLock', () => {
  it('is held by one process at a time and leaves one file', async () => {
    const child = await holder();
    expect(FileLock.isHeld(path)).toBe(true);
    expect(FileLock.claim(path)).toBeUndefined();
    expect(readdirSync(folder.path)).toEqual(['one.lock']);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('is released when its process ends, however it ends', async () => {
    const child = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(path)).toBe(true);
    expect(FileLock.isHeld(path)).toBe(false);
    using claimed = FileLock.claim(path);
    expect(claimed).toBeDefined();
  });

  it('is seen as held from another pid namespace, where the pid of its holder means nothing', async () => {
    const child = await holder(['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child']);
    expect(FileLock.isHeld(path)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect.poll(() => FileLock.isHeld(path)).toBe(false);
  });

  it('also excludes a second runtime in the same process', () => {
    using lock = FileLock.create(path);
    expect(lock).toBeDefined();
    expect(FileLock.isHeld(path)).toBe(true);
    expect(FileLock.claim(path)).toBeUndefined();
    expect(FileLock.isHeld(path), 'asking for it does not let it go').toBe(true);
  });

  it('can be tested by a process that may only read it', () => {
    using lock = FileLock.create(path);
    chmodSync(path, 0o400);
    expect(lock && FileLock.isHeld(path)).toBe(true);
  });

  it('is free after it was removed, and a missing file counts as free', () => {
    FileLock.create(path)?.remove();
    expect(existsSync(path)).toBe(false);
    expect(FileLock.isHeld(path)).toBe(false);
    expect(FileLock.claim(path)).toBeUndefined();
  });
});
