/**
 * What holds for cells that are a process of the operating system, and means nothing in others.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench, RunOptions } from './bench.ts';

const PROCESSES: RunOptions = { anyStart: true };

export function processContract(bench: Bench): void {
  const expectLimit = async (limit: string, skill: string, options: RunOptions = {}): Promise<void> => {
    const { error } = await bench.fail(skill, options);
    expect(error, error.message).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
  };

  test('the kernel denies what the report does not see', async () => {
    const skill = bench.skill(`
      import ctypes, errno
      def execute(params):
          libc = ctypes.CDLL(None, use_errno=True)
          def tried(number):
              return errno.errorcode.get(ctypes.get_errno(), "?") if number < 0 else "done"
          return {
              "read": tried(libc.open(b"${bench.hostFile}", 0)),
              "write": tried(libc.open(b"/skill/new", 0o102, 0o600)),
              "exec": tried(libc.execv(b"/usr/bin/true", (ctypes.c_char_p * 2)(b"true", None))),
              "fork": tried(libc.fork()),
          }
    `);
    expect((await bench.succeed(skill)).result).toEqual({
      read: 'ENOENT',
      write: 'EROFS',
      exec: expect.stringMatching(/^(EPERM|EACCES)$/),
      fork: expect.stringMatching(/^(EPERM|EACCES|ENOSYS)$/),
    });
  });

  test('a process that dies by a signal', async () => {
    const { error } = await bench.fail(bench.skillThat('import ctypes\nctypes.string_at(0)'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { signal: 11 } });
    expect(error.message).toContain('SIGSEGV');
  });

  test('only the channel and the standard streams are open', async () => {
    const skill = bench.skill(`
      import os
      def execute(params):
          return sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd))
    `);
    expect((await bench.succeed(skill)).result).toEqual([0, 1, 2, 3]);
  });

  test('the skill is nobody, alone, and cannot see who started it', async () => {
    const skill = bench.skill(`
      import os
      def execute(params):
          pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
          return {"uid": os.getuid(), "pid": os.getpid(), "pids": pids, "host": os.uname().nodename}
    `);
    expect((await bench.succeed(skill)).result).toEqual({ uid: bench.uid, pid: 1, pids: [1], host: 'cell' });
  });

  // Where there is no group, such a skill is refused: test/cli/plain-user.test.ts.
  if (bench.isGrouped)
    test('memory of many processes together', async () => {
      const skill = bench.skillThat(
        `
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20)) * 32
                time.sleep(60)
        time.sleep(60)
      `,
        { limits: { memory: '128MiB', processes: 16, timeout: '20s' } },
      );
      await expectLimit('memory', skill, PROCESSES);
    });

  test('processes, when some are declared', async () => {
    const skill = bench.skillThat(
      `
        import os, time
        for _ in range(64):
            if os.fork() == 0:
                time.sleep(60)
        return "all of them started"
      `,
      { limits: { processes: 4 } },
    );
    await expectLimit('processes', skill, PROCESSES);
  });

  test('processes: declared ones work', async () => {
    const skill = bench.skill({
      manifest: { limits: { processes: 4 } },
      source: `
        import subprocess
        def execute(params):
            return subprocess.run(["/bin/sh", "-c", "echo from a child"], capture_output=True, text=True).stdout
      `,
    });
    expect((await bench.succeed(skill, {}, PROCESSES)).result).toBe('from a child\n');
  });

  test('processes: a few threads need no declaration', async () => {
    const skill = bench.skill(`
      from concurrent.futures import ThreadPoolExecutor
      def execute(params):
          with ThreadPoolExecutor(8) as pool:
              return sum(pool.map(lambda n: n * n, range(8)))
    `);
    expect((await bench.succeed(skill)).result).toBe(140);
  });
}
