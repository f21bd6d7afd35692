import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { GuestEnd } from '../../../guest/wasm/contract.ts';
import { createWasi, type WasiHost } from '../../../guest/wasm/wasi/host.ts';
import { DirectoryBroker } from './directory-broker.ts';
import { MemoryBroker } from './memory-broker.ts';
import { runCommand } from './run-command.ts';

const fixture = (name: string): string => join(import.meta.dirname, '../fixtures/preview1', `${name}.wasm`);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skillcell-wasi-'));
});
afterAll(() => rm(directory, { recursive: true }));

const WRITABLE = `create=0
writev=11
seek=6
read=5
pwrite=1
pread=4
 Wor
ftruncate=0
size=8
fsync=0
close=0
closed=-1 errno=8
append=1
tell=9
read write-only=-1 errno=8
exclusive=-1 errno=20
missing=-1 errno=44
escape=-1 errno=63
outside=-1 errno=76
not a directory=-1 errno=54
mkdir=0
entries=28
rmdir full=-1 errno=55
rename=0
stat=0
link=0
symlink=-1 errno=63
unlink=0
unlink directory=-1 errno=31
readlink=-1 errno=28
entries=4
`;

describe('C programs', () => {
  test('receive parameters on stdin and return the result on stdout', async () => {
    const stdin = Buffer.from('{"a":[1,"ü"]}');
    const run = await runCommand(fixture('command'), {
      broker: new MemoryBroker(),
      env: { NAME: 'x y' },
      stdin,
    });
    expect(JSON.parse(run.stdout)).toEqual({
      params: { a: [1, 'ü'] },
      argc: 1,
      arg: 'skill',
      name: 'x y',
      slept: true,
      random: true,
      polled: 1,
      tty: 0,
    });
    expect([run.stderr, run.end]).toEqual(['done\n', 'exit 0']);
  });

  test('pass on their exit code', async () => {
    const run = await runCommand(fixture('command'), { broker: new MemoryBroker() });
    expect(run.end).toBe('exit 3');
  });

  test('can use a real directory', async () => {
    const broker = new DirectoryBroker(directory);
    const preopens = [{ id: 1, guestPath: '/data', writable: true }];
    const run = await runCommand(fixture('files'), { broker, preopens });
    expect(run).toEqual({ stdout: WRITABLE, stderr: '', end: 'exit 0' });
  });

  test('see no difference in a directory in memory', async () => {
    const broker = new MemoryBroker();
    const run = await runCommand(fixture('files'), { broker, preopens: [broker.preopen()] });
    expect(run.stdout).toBe(WRITABLE);
    expect(broker.text('b.txt')).toBe('hello Wo!');
  });

  test('cannot change a read-only directory', async () => {
    const broker = new MemoryBroker();
    broker.addFile('b.txt', 'kept');
    const run = await runCommand(fixture('files'), { broker, preopens: [broker.preopen(false)] });
    for (const act of ['create', 'exclusive', 'mkdir', 'rename', 'link', 'symlink', 'unlink', 'rmdir full']) {
      expect(run.stdout).toContain(`${act}=-1 errno=69\n`);
    }
    expect(run.stdout).toContain('stat=0\n');
    expect([...broker.root.children.keys()]).toEqual(['b.txt']);
    expect(new Set(broker.ops())).toEqual(new Set(['open', 'statAt', 'readDir', 'readlinkAt', 'close']));
  });

  test('find no directory without a grant', async () => {
    const broker = new MemoryBroker();
    const run = await runCommand(fixture('files'), { broker });
    expect(run.stdout).toContain('create=-1 errno=76\n');
    expect(broker.ops()).toEqual([]);
  });

  test('are ended when they write too much', async () => {
    const run = await runCommand(fixture('flood'), { broker: new MemoryBroker(), limits: { output: 1000 } });
    expect(run.end).toBe('limit output');
    expect(run.stdout.length).toBeLessThanOrEqual(1000);
  });
});

interface Machine {
  broker: MemoryBroker;
  memory: WebAssembly.Memory;
  host: WasiHost;
  view: DataView;
  calls: Record<string, (...args: unknown[]) => number | Promise<number>>;
}

function machine(stdin = ''): Machine {
  const wasi = createWasi();
  const broker = new MemoryBroker();
  const memory = new WebAssembly.Memory({ initial: 1 });
  const host = wasi.createHost({ broker, preopens: [broker.preopen()], stdin: Buffer.from(stdin) });
  host.setMemory(memory);
  const calls = wasi.preview1((call) => call) as Machine['calls'];
  return { broker, memory, view: new DataView(memory.buffer), calls, host };
}

const END = 65_536;

describe('preview1 system calls', () => {
  test('return a fault for a pointer outside the memory', async () => {
    const { calls, view } = machine('input');
    view.setUint32(0, END - 1, true);
    view.setUint32(4, 2, true);
    expect(calls['clock_time_get']?.(1, 0n, END - 7)).toBe(21);
    expect(calls['random_get']?.(END - 1, 2)).toBe(21);
    expect(calls['random_get']?.(0, -1)).toBe(21);
    expect(calls['args_get']?.(0, END)).toBe(21);
    expect(await calls['fd_read']?.(0, 0, 1, 100)).toBe(21);
    expect(await calls['fd_write']?.(1, 0, 1, 100)).toBe(21);
    expect(await calls['fd_write']?.(1, -8, 1, 100)).toBe(21);
    expect(await calls['fd_write']?.(1, 0, 2000, 100)).toBe(28);
    expect(await calls['path_open']?.(3, 0, END, 1, 0, 0n, 0n, 0, 100)).toBe(21);
    expect(await calls['poll_oneoff']?.(END - 40, 0, 1, 100)).toBe(21);
    expect(await calls['poll_oneoff']?.(0, 0, 0, 100)).toBe(28);
  });

  test('return an illegal sequence for a path that is not valid UTF-8', async () => {
    const { calls, view } = machine();
    view.setUint8(0, 0xff);
    expect(await calls['path_create_directory']?.(3, 0, 1)).toBe(25);
    expect(await calls['path_create_directory']?.(3, 0, 5000)).toBe(37);
    expect(await calls['path_create_directory']?.(9, 0, 1)).toBe(25);
  });

  test('support preopens, descriptors and renumbering', () => {
    const { calls, view, memory } = machine();
    expect(calls['fd_prestat_get']?.(3, 0)).toBe(0);
    expect(view.getUint32(4, true)).toBe(5);
    expect(calls['fd_prestat_dir_name']?.(3, 16, 4)).toBe(37);
    expect(calls['fd_prestat_dir_name']?.(3, 16, 5)).toBe(0);
    expect(Buffer.from(memory.buffer, 16, 5).toString()).toBe('/data');
    expect(calls['fd_prestat_get']?.(4, 0)).toBe(8);
    expect(calls['fd_renumber']?.(3, 0)).toBe(0);
    expect(calls['fd_prestat_get']?.(3, 0)).toBe(8);
    expect(calls['fd_prestat_get']?.(0, 0)).toBe(0);
    expect(calls['fd_fdstat_get']?.(0, 0)).toBe(0);
    expect(view.getUint8(0)).toBe(3);
    expect(calls['fd_close']?.(0)).toBe(0);
    expect(calls['fd_close']?.(0)).toBe(8);
  });

  test('can only reduce rights', async () => {
    const { calls, view } = machine('input');
    expect(calls['fd_fdstat_get']?.(0, 64)).toBe(0);
    const rights = view.getBigUint64(72, true);
    expect(calls['fd_fdstat_set_rights']?.(0, rights | (1n << 6n), 0n)).toBe(76);
    expect(calls['fd_fdstat_set_rights']?.(0, rights & ~2n, 0n)).toBe(0);
    expect(await calls['fd_read']?.(0, 0, 1, 100)).toBe(8);
  });

  test('no longer serve a guest that caught the exception that ended it', async () => {
    const { calls, host } = machine();
    await expect((async () => calls['proc_exit']?.(4))()).rejects.toThrow('4');
    await expect((async () => calls['sched_yield']?.())()).rejects.toThrow('4');
    expect(host.guestEnd).toMatchObject({ kind: 'exit', detail: '4' });
  });

  test('end a command without a memory', async () => {
    const { calls, host } = machine();
    const wasi = createWasi();
    const bare = wasi.createHost({ broker: new MemoryBroker() });
    for (const nothing of [undefined, null, () => 1, { buffer: new ArrayBuffer(8) }]) bare.setMemory(nothing);
    const imports = wasi.preview1((call) => call) as Machine['calls'];
    await expect((async () => imports['sched_yield']?.())()).rejects.toThrow(GuestEnd);
    host.finish();
    await expect((async () => calls['sched_yield']?.())()).rejects.toThrow(GuestEnd);
  });

  test('report unsupported operations', async () => {
    const { calls } = machine();
    expect(calls['proc_raise']?.(6)).toBe(52);
    expect(calls['sock_send']?.(1, 0, 0, 0, 0)).toBe(57);
    expect(calls['sock_accept']?.(77, 0, 0)).toBe(8);
    expect(calls['clock_time_get']?.(2, 0n, 0)).toBe(28);
    expect(calls['sched_yield']?.()).toBe(0);
    expect(await calls['fd_seek']?.(0, 0n, 0, 0)).toBe(70);
  });

  test('wait for clocks, but not for streams', async () => {
    const { calls, view } = machine();
    const now = (): bigint => {
      expect(calls['clock_time_get']?.(1, 0n, 1024)).toBe(0);
      return view.getBigUint64(1024, true);
    };
    const subscribe = (at: number, userdata: bigint, timeout: bigint): void => {
      view.setBigUint64(at, userdata, true);
      view.setUint32(at + 16, 1, true);
      view.setBigUint64(at + 24, timeout, true);
    };
    subscribe(0, 7n, 15_000_000n);
    subscribe(48, 8n, 1n << 60n);
    const before = now();
    expect(await calls['poll_oneoff']?.(0, 256, 2, 512)).toBe(0);
    expect(now() - before).toBeGreaterThanOrEqual(15_000_000n);
    expect([view.getUint32(512, true), view.getBigUint64(256, true)]).toEqual([1, 7n]);
    view.setUint8(8, 1);
    view.setUint32(16, 55, true);
    expect(await calls['poll_oneoff']?.(0, 256, 2, 512)).toBe(0);
    expect([view.getUint32(512, true), view.getUint16(264, true), view.getUint8(266)]).toEqual([1, 8, 1]);
  });

  test('return an errno or end the guest for every argument', async () => {
    const names = Object.keys(machine().calls).filter((name) => name !== 'poll_oneoff');
    expect(names).toHaveLength(45);
    const value = fc.oneof(
      fc.constantFrom(0, 1, 3, -1, 100, END, Number.NaN, 1.5, null, undefined, 'x', {}, 0n, -1n, 1n << 70n),
      fc.integer(),
      fc.bigInt(),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.array(value, { maxLength: 9 }), async (name, args) => {
        const { calls } = machine('input');
        try {
          expect(await calls[name]?.(...args)).toBeTypeOf('number');
        } catch (error) {
          expect(error).toBeInstanceOf(GuestEnd);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
