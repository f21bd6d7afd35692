/** Tests the policy with the real kernel: a Python process in bubblewrap with the filter installed. */
import { describe, expect, it } from 'vitest';
import { assemble } from '../../../../src/cell/linux/seccomp/assembler.ts';
import type { FilterRule } from '../../../../src/cell/linux/seccomp/assembler.ts';
import { lockdownFilter, seccompFilter, seccompRules } from '../../../../src/cell/linux/seccomp/policy.ts';
import type { SeccompOptions } from '../../../../src/cell/linux/seccomp/policy.ts';
import { isSeccompArch, syscallNumber } from '../../../../src/cell/linux/seccomp/syscalls.ts';
import type { SeccompArch, SyscallName } from '../../../../src/cell/linux/seccomp/syscalls.ts';
import { errnosInJail, runJailedPython } from '../../walls/jail/jailed-python.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** An errno that no call here returns by itself, so it can only come from the filter. */
const MARK = 133;
const KILLED_BY_SIGSYS = 128 + 31;
const HIGH = 1n << 32n;

const arch = thisArch();
const DEFAULT: SeccompOptions = { syscalls: 'default', allowProcesses: false };
const STRICT: SeccompOptions = { syscalls: 'strict', allowProcesses: false };

function thisArch(): SeccompArch {
  if (!isSeccompArch(process.arch)) throw new Error(`No table for ${process.arch}`);
  return process.arch;
}

function number(name: SyscallName): number {
  const found = syscallNumber(arch, name);
  if (found === undefined) throw new Error(`No "${name}" on ${arch}`);
  return found;
}

const filterOf = (options: SeccompOptions): Buffer => seccompFilter({ ...options, arch });

/** The same policy with MARK for every denial, to distinguish the filter from a missing capability. */
function markedFilter(options: SeccompOptions): Buffer {
  const rules = seccompRules(options).map((rule) => Object.assign(rule, { action: { errno: MARK } }));
  return assemble({ arch, rules, beyondTable: { errno: MARK } });
}

function unconditional(options: SeccompOptions): FilterRule[] {
  return seccompRules(options).filter(
    (rule) => !rule.when && syscallNumber(arch, rule.syscall) !== undefined,
  );
}

describe.each([
  ['default', DEFAULT],
  ['strict', STRICT],
])('the %s policy in the kernel', (_, options) => {
  const rules = unconditional(options);
  const calls = rules.map((rule) => [number(rule.syscall)]);

  it('stops every denied call in the filter', () => {
    const errnos = errnosInJail(calls, markedFilter(options));
    expect(rules.filter((_, index) => errnos[index] !== MARK).map((rule) => rule.syscall)).toEqual([]);
    expect(rules.length).toBeGreaterThan(60);
  });

  it('returns the errno of the rule for each denied call', () => {
    const errnos = errnosInJail(calls, filterOf(options));
    const wanted = rules.map((rule) => (typeof rule.action === 'object' ? rule.action.errno : rule.action));
    expect(errnos).toEqual(wanted);
    expect(errnos[rules.findIndex((rule) => rule.syscall === 'clone3')]).toBe(ENOSYS);
    expect(errnos[rules.findIndex((rule) => rule.syscall === 'mount')]).toBe(EPERM);
  });

  it('runs CPython with the usual modules, a thread, a temporary file and an event loop', () => {
    const program = `
import json, re, threading, decimal, hashlib, tempfile, asyncio, random, datetime, concurrent.futures
out = []
thread = threading.Thread(target=lambda: out.append(str(decimal.Decimal("1.5") * 2)))
thread.start(); thread.join()
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("kept"); file.flush(); file.seek(0); out.append(file.read())
async def later():
    await asyncio.sleep(0.001); return "later"
out.append(asyncio.run(later()))
with concurrent.futures.ThreadPoolExecutor(2) as pool: out.append(sum(pool.map(len, ["a", "bc"])))
print(json.dumps(out))`;
    const run = runJailedPython(program, filterOf(options));
    expect(run).toEqual({ status: 0, stdout: '["3.0", "kept", "later", 3]\n', stderr: '' });
  });
});

/** Legacy calls that only x64 has. */
function legacyModeCalls(): number[][] {
  return [
    [number('chmod'), 0, 0o4755],
    [number('creat'), 0, 0o2755],
    [number('mknod'), 0, 0o104755, 0],
    [number('open'), 0, 0o101, 0o4755],
  ];
}

describe('argument rules in the kernel', () => {
  const NEW_USER = 0x10000000;
  const AF_VSOCK = 40;

  it('stop each forbidden argument, even with garbage in the high word', () => {
    const calls = [
      [number('clone'), NEW_USER | 17, 0, 0, 0, 0],
      [number('clone'), HIGH | BigInt(NEW_USER | 17), 0, 0, 0, 0],
      [number('ioctl'), 0, 0x5412, 0],
      [number('ioctl'), 0, HIGH | 0x5412n, 0],
      [number('ioctl'), 0, 0x541c, 0],
      [number('personality'), 0x0040000],
      [number('socket'), AF_VSOCK, 1, 0],
      [number('socket'), HIGH | BigInt(AF_VSOCK), 1, 0],
      [number('socket'), 17, 3, 0],
      [number('socketpair'), AF_VSOCK, 1, 0, 0],
    ];
    expect(errnosInJail(calls, markedFilter(DEFAULT))).toEqual(calls.map(() => MARK));
    expect(errnosInJail(calls, filterOf(DEFAULT))).toEqual([
      ...Array.from({ length: 6 }, () => EPERM),
      ...Array.from({ length: 4 }, () => EAFNOSUPPORT),
    ]);
  });

  const [CREATE, CREATE_NAMELESS, HERE] = [0o101, 0o20200001, -100];

  it('stop every way to set a set-id bit', () => {
    const calls = [
      ...(arch === 'x64' ? legacyModeCalls() : []),
      [number('fchmod'), 0, 0o4755],
      [number('fchmodat'), HERE, 0, 0o2755],
      [number('fchmodat2'), HERE, 0, 0o6755, 0],
      [number('mknodat'), HERE, 0, 0o104755, 0],
      [number('openat'), HERE, 0, CREATE, 0o4755],
      [number('openat'), HERE, 0, CREATE_NAMELESS, 0o2755],
      [number('openat'), HIGH | 0xffffff9cn, 0, HIGH | BigInt(CREATE), HIGH | 0o4755n],
    ];
    expect(errnosInJail(calls, markedFilter(DEFAULT))).toEqual(calls.map(() => MARK));
    expect(errnosInJail(calls, filterOf(DEFAULT))).toEqual(calls.map(() => EPERM));
  });

  it('allow every other mode, and any mode of an open that does not create', () => {
    const [EBADF, EFAULT] = [9, 14];
    const calls = [
      [number('fchmod'), 99, 0o1777],
      [number('fchmodat'), HERE, 0, 0o755],
      [number('openat'), HERE, 0, CREATE, 0o644],
      [number('openat'), HERE, 0, 0, 0o4755],
    ];
    expect(errnosInJail(calls, markedFilter(DEFAULT))).toEqual([EBADF, EFAULT, EFAULT, EFAULT]);
  });

  it('allow the harmless arguments of the same calls', () => {
    const ENOTTY = 25;
    const calls = [
      [number('personality'), 0xffffffff],
      [number('personality'), 0],
      [number('socket'), 1, 1, 0],
      [number('socket'), 2, 1, 0],
      [number('socket'), 10, 1, 0],
      [number('ioctl'), 0, 0x5401, 0],
    ];
    const families = [1, 2, 10];
    expect(errnosInJail(calls, markedFilter({ ...DEFAULT, families }))).toEqual([0, 0, 0, 0, 0, ENOTTY]);
  });

  it('allow only the requested socket families, and none by default', () => {
    const calls = [1, 2, 10].map((family) => [number('socket'), family, 1, 0]);
    expect(errnosInJail(calls, filterOf({ ...DEFAULT, families: [1] }))).toEqual([
      0,
      EAFNOSUPPORT,
      EAFNOSUPPORT,
    ]);
    for (const options of [DEFAULT, STRICT])
      expect(errnosInJail(calls, filterOf(options))).toEqual(calls.map(() => EAFNOSUPPORT));
  });

  it('allow pairs of stream sockets, but not of datagram sockets, which can send to any path', () => {
    const [EFAULT, CLOSE_ON_EXEC] = [14, 0o2000000];
    const pair = (family: number, kind: number): number[] => [number('socketpair'), family, kind, 0, 0];
    const calls = [pair(1, 1), pair(1, 1 | CLOSE_ON_EXEC), pair(1, 5), pair(1, 2), pair(1, 3), pair(2, 1)];
    expect(errnosInJail(calls, filterOf(DEFAULT))).toEqual([
      EFAULT,
      EFAULT,
      EFAULT,
      EPERM,
      EPERM,
      EAFNOSUPPORT,
    ]);
  });

  it('stop calls that act on files beyond the cell: leases, notifications, hints and large pipes', () => {
    const commands = [1024, 1026, 1031, 1036, 1038];
    const calls = commands.map((command) => [number('fcntl'), 0, command, 0]);
    expect(errnosInJail(calls, markedFilter(DEFAULT))).toEqual(calls.map(() => MARK));
    const harmless = [1, 3, 1025, 1032, 1034].map((command) => [number('fcntl'), 99, command, 0]);
    expect(errnosInJail(harmless, markedFilter(DEFAULT))).toEqual(harmless.map(() => 9));
  });

  it('stop calls that affect the whole machine: asynchronous I/O, syncing all disks, special files', () => {
    const names = ['io_setup', 'io_submit', 'sync', 'syncfs', 'mknodat', 'cachestat'] as const;
    const calls = names.map((name) => [number(name), 0, 0, 0]);
    expect(errnosInJail(calls, markedFilter(DEFAULT))).toEqual(calls.map(() => MARK));
  });

  it('stop a call that the manifest denies', () => {
    const calls = [[number('uname'), 0], [number('getppid')]];
    expect(errnosInJail(calls, filterOf({ ...DEFAULT, syscalls: { deny: ['getppid'] } }))).toEqual([
      14,
      EPERM,
    ]);
  });

  it('stop a call beyond the table', () => {
    expect(errnosInJail([[470], [511], [100_000]], markedFilter(DEFAULT))).toEqual([MARK, MARK, MARK]);
  });
});

const STARTERS = `
import json, os, subprocess, threading
def attempt(start):
    try: return start()
    except OSError as error: return error.errno
def fork():
    pid = os.fork()
    if pid == 0: os._exit(7)
    return "forked %d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def spawn():
    pid = os.posix_spawn("/bin/true", ["true"], {})
    return "spawned %d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
seen = []
thread = threading.Thread(target=seen.append, args=("thread",)); thread.start(); thread.join()
print(json.dumps([attempt(lambda: subprocess.run(["/bin/true"]).returncode), attempt(fork), attempt(spawn), seen]))`;

describe('processes', () => {
  it('cannot be started unless allowed, while threads can', () => {
    const run = runJailedPython(STARTERS, filterOf(DEFAULT));
    expect(JSON.parse(run.stdout)).toEqual([EPERM, EPERM, EPERM, ['thread']]);
  });

  it('can be started if allowed', () => {
    const run = runJailedPython(STARTERS, filterOf({ ...DEFAULT, allowProcesses: true }));
    expect(JSON.parse(run.stdout)).toEqual([0, 'forked 7', 'spawned 0', ['thread']]);
  });
});

describe('the lockdown filter', () => {
  it('stops only exec after a process has installed it on itself', () => {
    const bytes = lockdownFilter({ arch, exec: false, sockets: true }).toString('hex');
    const program = `
import ctypes, json, os, threading
code = bytes.fromhex("${bytes}")
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(code, len(code))
program = Program(len(code) // 8, ctypes.addressof(buffer))
installed = libc.prctl(22, 2, ctypes.byref(program))
def attempt():
    try: os.execv("/bin/true", ["true"])
    except OSError as error: return error.errno
seen = []
thread = threading.Thread(target=seen.append, args=("thread",)); thread.start(); thread.join()
print(json.dumps([installed, attempt(), len(os.listdir("/usr")) > 0, seen]), flush=True)`;
    const run = runJailedPython(program, filterOf(STRICT));
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout)).toEqual([0, EPERM, true, ['thread']]);
  });
});

if (arch === 'x64') {
  describe('other ABIs of the x64 kernel', () => {
    it('kill a process that uses x32', () => {
      const program = `import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39)); print("alive")`;
      expect(runJailedPython(program).stdout).toBe('alive\n');
      expect(runJailedPython(program, filterOf(DEFAULT))).toMatchObject({
        status: KILLED_BY_SIGSYS,
        stdout: '',
      });
    });

    it('kill a process that uses the 32-bit gate, int 0x80', () => {
      // mov eax, 20 (getpid of i386); int 0x80; ret
      const program = `
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000cd80c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CFUNCTYPE(ctypes.c_int)(address)(); print("alive")`;
      const run = runJailedPython(program, filterOf(DEFAULT));
      // A kernel without 32-bit support kills it with SIGSEGV before the filter runs.
      expect([KILLED_BY_SIGSYS, 128 + 11]).toContain(run.status);
      expect(run.stdout).toBe('');
    });
  });
}
