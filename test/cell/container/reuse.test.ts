/**
 * `container.reuse: pool`: one container serves many calls, and none finds anything of another.
 *
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSkill } from '../../write-skill.ts';
import type { TestRuntime } from '../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const POOLED = { ...IN_CONTAINER, container: { image: BASE_IMAGE, reuse: 'pool' } };
let opened: TestRuntime;
beforeAll(async () => void (opened = await openContainerRuntime('crun', { pool: { size: 1 } })), 120_000);
afterAll(() => opened.close());

async function callTwice(source: string, manifest: Record<string, unknown> = {}): Promise<unknown[]> {
  const dir = writeSkill(opened.folder, { manifest: { ...POOLED, ...manifest }, source });
  return [await callPooled(dir, 0), await callPooled(dir, 1)];
}

async function callPooled(dir: string, call: number): Promise<unknown> {
  // Until the container has cleaned up behind the last call: who comes earlier gets another one.
  await opened.runtime.warm(await opened.runtime.load(dir));
  const outcome = await opened.runtime.execute(dir, { call }, { reject: false });
  expect(outcome.execution?.start).toBe('zygote');
  return outcome.ok ? outcome.result : outcome.error;
}

test('calls share a container and neither memory, files nor processes', async () => {
  const source = `
    import os
    STATE = []
    def execute(params):
        STATE.append(params["call"])
        left = sorted(os.listdir("/tmp") + os.listdir("/dev/shm"))
        os.makedirs("/tmp/a/b")
        for path in ("/tmp/a/b/c", "/tmp/d", "/dev/shm/e"):
            open(path, "w").write("left")
        os.chmod("/tmp/a", 0)
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        return {"state": STATE, "left": left, "uid": os.getuid(), "alone": pids == [1, os.getpid()]}
  `;
  const expected = { left: [], uid: 65_534, alone: true };
  expect(await callTwice(source)).toEqual([
    { ...expected, state: [0] },
    { ...expected, state: [1] },
  ]);
});

test('what a call starts ends with it', async () => {
  const source = `
    import os, time
    def execute(params):
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
        return pids == [1, os.getpid()]
  `;
  expect(await callTwice(source, { limits: { processes: 4 } })).toEqual([true, true]);
});

test('the keeper cannot be read, written or ended by a call', async () => {
  const source = `
    import ctypes, os, signal
    def execute(params):
        libc = ctypes.CDLL(None)
        opened = [name for name in ("mem", "environ", "maps") if libc.open(b"/proc/1/" + name.encode(), os.O_RDONLY) >= 0]
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGHUP):
            os.kill(1, number)
        return opened
  `;
  expect(await callTwice(source)).toEqual([[], []]);
});

test('limits hold for each call on its own', async () => {
  const source = `
    def execute(params):
        if params["call"] == 0:
            held = bytearray(512 << 20)
        return "fine"
  `;
  const results = await callTwice(source, { limits: { memory: '128MiB' } });
  expect(results).toEqual([expect.objectContaining({ code: 'resource_exceeded' }), 'fine']);
});
