/**
 * The command line for an ordinary user: not root, no writable cgroup. Limits that can be enforced are enforced, others are
 * refused with a fix, and `doctor` says which is which.
 *
 * @module
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import type { PairReport } from '../../src/index.ts';
import { UNPRIVILEGED } from '../cell/walls/jail/jailed-python.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ROOT, type Ended } from './command.ts';

const folder = openFolder();
const home = join(folder, 'home-of-user');
mkdirSync(home, { mode: 0o700 });
const workplace = join(folder, 'workplace');
mkdirSync(workplace);
if (UNPRIVILEGED.uid !== undefined)
  for (const own of [home, workplace]) chownSync(own, UNPRIVILEGED.uid, UNPRIVILEGED.uid);
afterAll(() => removeFolder(folder));

const MIB = 1024 * 1024;
const GIVE_UP_MS = 60_000;

function start(...args: string[]): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [join(ROOT, 'bin/skillcell.js'), ...args], {
    ...UNPRIVILEGED,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: home, SKILLCELL_HOME: join(home, 'skillcell'), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function skillcell(...args: string[]): Promise<Ended> {
  const child = start(...args);
  const ended: Ended = { code: -1, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
  [ended.code] = (await once(child, 'close')) as [number];
  return ended;
}

const doctor = await skillcell('doctor', '--json');
const { pairs } = JSON.parse(doctor.stdout) as { pairs: PairReport[] };
const pairOf = (engine: string): PairReport => {
  const found = pairs.find((pair) => pair.mode === 'subprocess' && pair.engine === engine);
  if (!found) throw new Error(`No pair for ${engine}`);
  return found;
};

function native(source: string, limits: Record<string, unknown> = {}): string {
  return writeSkill(folder, { source, manifest: { execution: ['subprocess'], limits } });
}

const run = (dir: string, params = '{}'): Promise<Ended> => skillcell('run', dir, '--params', params);

describe('skillcell doctor, as an ordinary user,', () => {
  test('finds a jail and says what enforces each limit, or what would help', () => {
    const { available, enforces, summary } = pairOf('python');
    expect(available, summary).toBe(true);
    expect(summary).toContain('no writable cgroup');
    expect(enforces.memory).toMatchObject({ by: 'kernel', how: expect.stringContaining('RLIMIT_AS') });
    expect(enforces.cpu.by).toBe('kernel');
    for (const field of ['memory.processes', 'cpu.processes'] as const)
      expect(enforces[field]).toMatchObject({ by: 'nobody', how: expect.stringMatching(/control group/) });
    expect(pairOf('node').enforces.memory).toMatchObject({ by: 'nobody' });
  });

  test('never claims that a limit of a native cell is polled', () => {
    const native = pairs.filter(({ mode }) => mode === 'subprocess' || mode === 'container');
    expect(JSON.stringify(native)).not.toContain('polled');
  });
});

describe('an ordinary user can run', () => {
  test('the native template, with the limits that it declares', async () => {
    const dir = join(workplace, 'greeter');
    const made = await skillcell('init', 'text/greeter', '--lang', 'python', '--dir', dir);
    expect(made).toMatchObject({ code: 0 });
    expect(readFileSync(join(dir, 'manifest.yaml'), 'utf8')).toContain('memory: 128MiB');
    const said = await skillcell('run', dir, '--execution', 'subprocess', '--params', '{"text":"abc"}');
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('cba') });
  });

  test('an ordinary Python skill that uses threads, sqlite, mmap and asyncio', async () => {
    const dir = native(
      `
      import asyncio, decimal, hashlib, json, mmap, sqlite3, ssl, tempfile, threading
      def execute(params):
          seen = []
          threads = [threading.Thread(target=lambda: seen.append(len(bytearray(1 << 20)))) for _ in range(12)]
          [t.start() for t in threads]; [t.join() for t in threads]
          base = sqlite3.connect(tempfile.mktemp()); base.execute("create table t (x)"); base.execute("insert into t values (1)"); base.commit()
          shared = mmap.mmap(-1, 1 << 20); shared[0] = 1
          async def wait(): await asyncio.sleep(0.01); return 7
          return {"threads": len(seen), "rows": base.execute("select count(*) from t").fetchone()[0], "waited": asyncio.run(wait())}
      `,
      { memory: '256MiB', cpu: '10s' },
    );
    const { code, stdout, stderr } = await run(dir);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout)).toEqual({ threads: 12, rows: 1, waited: 7 });
  });

  test('a skill that uses almost all its memory, and one that starts programs without a memory limit', async () => {
    const most = native('def execute(params):\n    return len(bytearray(100 << 20))', { memory: '128MiB' });
    expect(await run(most)).toMatchObject({ code: 0, stdout: `${100 * MIB}\n` });
    const starts = native(
      'import subprocess\ndef execute(params):\n    return subprocess.run(["/bin/echo", "hi"], capture_output=True, text=True).stdout.strip()',
      { processes: 4 },
    );
    expect(await run(starts)).toMatchObject({ code: 0, stdout: '"hi"\n' });
  });

  test('a Node skill without a memory limit', async () => {
    const dir = writeSkill(folder, {
      manifest: { execution: ['subprocess'], entry: 'skill.js' },
      files: { 'skill.js': 'export function execute({ a }) { return { twice: a * 2 }; }' },
    });
    expect(await run(dir, '{"a":21}')).toMatchObject({ code: 0, stdout: expect.stringContaining('42') });
  });
});

describe('an ordinary user cannot limit', () => {
  const command = /systemd-run --user --scope -p Delegate=yes|administrator/;

  test.each([
    ['memory of several processes', native('def execute(p): pass', { memory: '128MiB', processes: 4 })],
    ['CPU time of several processes', native('def execute(p): pass', { cpu: '5s', processes: 4 })],
    [
      'memory of Node',
      writeSkill(folder, {
        manifest: { execution: ['subprocess'], entry: 'skill.js', limits: { memory: '128MiB' } },
        files: { 'skill.js': 'export function execute() {}' },
      }),
    ],
  ])('%s, and the error names the one command that would help', async (_, dir) => {
    const { code, stderr } = await run(dir);
    expect(code).not.toBe(0);
    expect(stderr).toContain('unenforceable');
    expect(stderr).toMatch(command);
  });
});

describe('without a cgroup, a skill', () => {
  const HOLD_SHARED = `
    import ctypes, mmap
    libc = ctypes.CDLL(None)
    def execute(params):
        held = []
        for _ in range(58):
            block = mmap.mmap(-1, 12 << 20)
            for at in range(0, 12 << 20, 4096): block[at] = 1
            block.madvise(mmap.MADV_DONTNEED)
            held.append(block)
        return {"held": len(held) * 12}
  `;
  const PAGE_TABLES = `
    import ctypes, mmap
    def execute(params):
        space = mmap.mmap(-1, 200 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
        return {"touched": sum(1 for at in range(0, 200 << 30, 2 << 20) if space[at] == 0)}
  `;
  const SCATTERED_PAGES = `
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    def execute(params):
        made = 0
        for slot in range(1, 60000):
            place = libc.mmap(slot << 30, 4096, 1, 0x4022, -1, 0)
            if place in (None, ctypes.c_void_p(-1).value): raise MemoryError()
            ctypes.string_at(place, 1); made += 1
        return {"pages_of_tables": made * 2}
  `;

  test.each([
    ['shared memory that is no longer mapped', HOLD_SHARED],
    ['page tables of a huge mapping', PAGE_TABLES],
    ['page tables of many small mappings', SCATTERED_PAGES],
  ])('that uses %s is stopped at the limit', async (_, source) => {
    const { code, stdout, stderr } = await run(
      native(source, { memory: '128MiB', timeout: '60s', cpu: '60s' }),
    );
    expect(stdout).toBe('');
    expect(stderr).toContain('resource_exceeded');
    expect(stderr).toContain('memory');
    expect(code).not.toBe(0);
  });

  const FILES_IN_SHM = `
    import os
    def execute(params):
        for at in range(300000): os.close(os.open("/dev/shm/%d" % at, os.O_CREAT | os.O_WRONLY))
        return {"files": 300000}
  `;

  test('can create only a limited number of empty files in /dev/shm, because each costs kernel memory', async () => {
    const { stdout, stderr } = await run(
      native(FILES_IN_SHM, { memory: '64MiB', timeout: '60s', cpu: '60s' }),
    );
    expect(stdout).toBe('');
    expect(stderr).toMatch(/resource_exceeded[\s\S]*scratch/);
  });

  test('cannot hoard kernel memory in attributes, rules, buffers and pages in flight', async () => {
    const source = `
      import ctypes, errno, os, shutil, struct
      _socket = __import__("_sock" + "et")
      libc = ctypes.CDLL(None, use_errno=True)
      def attempt(act):
          try: return act()
          except OSError as error: return errno.errorcode[error.errno]
      def attribute():
          open("/tmp/a", "w").close(); os.setxattr("/tmp/a", "user.a", bytes(60000)); return "kept"
      def ruleset():
          if libc.syscall(444, struct.pack("QQ", 0, 1), 16, 0) < 0: raise OSError(ctypes.get_errno(), "")
          return "made"
      def spliced():
          file = os.open("/tmp/p", os.O_RDWR | os.O_CREAT); os.write(file, bytes(4096))
          return os.splice(file, os.pipe()[1], 1, offset_src=0)
      def sent():
          file = os.open("/tmp/s", os.O_RDWR | os.O_CREAT); os.write(file, bytes(4096))
          return os.sendfile(_socket.socketpair()[0].fileno(), file, 0, 1)
      def buffered():
          end, other = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
          end.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF, 1 << 20); end.setblocking(False)
          return end.getsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF) < 1 << 20
      def copied():
          open("/tmp/c", "wb").write(bytes(3 << 20)); shutil.copy2("/tmp/c", "/tmp/d"); return os.path.getsize("/tmp/d")
      def execute(params):
          return [attempt(act) for act in (attribute, ruleset, spliced, sent, buffered, copied)]
    `;
    const { stdout, stderr } = await run(native(source, { memory: '64MiB' }));
    const answers = ['ENOTSUP', 'ENOTSUP', 'EINVAL', 'EINVAL', true, 3 * MIB];
    expect(JSON.parse(stdout || 'null'), stderr).toEqual(answers);
  });

  test('cannot exceed its limit by copying files in Node, which copies differently if sendfile is refused', async () => {
    const dir = writeSkill(folder, {
      manifest: { execution: ['subprocess'], entry: 'skill.js' },
      files: {
        'skill.js': `import { copyFileSync, statSync, writeFileSync } from 'node:fs';
          export function execute() {
            writeFileSync('/tmp/a', Buffer.alloc(3 << 20)); copyFileSync('/tmp/a', '/tmp/b'); return statSync('/tmp/b').size;
          }`,
      },
    });
    expect(await run(dir)).toMatchObject({ code: 0, stdout: `${3 * MIB}\n` });
  });

  test('that may start processes cannot declare a CPU limit, because its children could end unseen', async () => {
    const source = `
      import os, signal, time
      def execute(params):
          signal.signal(signal.SIGCHLD, signal.SIG_IGN)
          for _ in range(4):
              if os.fork() == 0:
                  sum(range(10**6)); os._exit(0)
          return {}
    `;
    expect((await run(native(source, { cpu: '1s', processes: 8 }))).stderr).toContain('unenforceable');
    const alone = await run(native(source, { cpu: '1s' }));
    expect(alone.stderr).toContain('capability_denied');
  });

  test('has the CPU time of all its threads counted by the kernel', async () => {
    const source = `
      import hashlib, threading
      def burn():
          while True: hashlib.sha256(bytes(1 << 20))
      def execute(params):
          threads = [threading.Thread(target=burn) for _ in range(4)]
          [t.start() for t in threads]; [t.join() for t in threads]
    `;
    const { stderr } = await run(native(source, { cpu: '1s', timeout: '60s' }));
    expect(stderr).toMatch(/resource_exceeded[\s\S]*cpu/);
  });
});

test(
  'a cell dies with a host that is killed, even if it tries not to',
  { timeout: 4 * GIVE_UP_MS },
  async () => {
    const source = `
      import ctypes, time
      def execute(params):
          ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
          open("/workspace/begun", "w").close()
          time.sleep(60)
    `;
    const filesystem = [{ path: '${workspace}', access: 'read-write' }];
    const dir = writeSkill(folder, {
      source,
      manifest: { execution: ['subprocess'], limits: { timeout: '120s' }, capabilities: { filesystem } },
    });
    const host = start('run', dir, '--params', '{}', '--workspace', workplace);
    const begun = join(workplace, 'begun');
    await expect.poll(() => existsSync(begun), { timeout: GIVE_UP_MS }).toBe(true);
    const started = descendants(host.pid ?? 0);
    expect(started.length).toBeGreaterThan(1);
    host.kill('SIGKILL');
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  },
);

/** All descendants of this process. */
function descendants(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean) : [];
  return children.map(Number).flatMap((child) => [child].concat(descendants(child)));
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
