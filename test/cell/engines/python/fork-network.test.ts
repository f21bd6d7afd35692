/**
 * The network namespaces of forks: never one for two at the same time, and always empty at the start of a call.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { childPids } from '../../../../src/cell/linux/memory-watch.ts';
import { zygotePid } from '../../../runtime/host-state.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../../test-runtime.ts';

/** What a call sees of its network namespace before it does anything there. */
const LOOK = `
import importlib, os, time

# Not imported by name, because the manifest declares no network.
socket = importlib.import_module("so" + "cket")

def rows():
    with open("/proc/net/unix") as listed:
        return len(listed.readlines()) - 1

def look():
    files = [os.path.join(folder, name) for folder, _, names in os.walk("/proc/sys/net") for name in names]
    return {
        "network": os.readlink("/proc/self/ns/net"),
        "sockets": rows(),
        "writable": [file for file in files if os.access(file, os.W_OK)],
        "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
    }
`;
const ONLY_LOOKS = `${LOOK}
def execute(params):
    return look()
`;
/** Everything that the kernel tells about the namespace, and then what a hostile call might leave there. */
const READS_ALL = `${LOOK}
def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return "errno %s" % error.errno

# Counters of the whole machine, the same in every namespace.
OF_MACHINE = ("softnet_stat", "rt_cache", "arp_cache", "ndisc_cache", "protocols")

def execute(params):
    found = {}
    for top in ("/proc/net", "/proc/sys/net"):
        for folder, _, names in os.walk(top):
            found.update((os.path.join(folder, name), text(os.path.join(folder, name))) for name in names if name not in OF_MACHINE)
    pairs = [socket.socketpair() for _ in range(30)]
    for one, other in pairs:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        one.sendall(b"x" * 1000)
        socket.send_fds(one, [b"x"], [one.fileno(), other.fileno()])
    return found
`;
/** Leaves sockets that only each other still refer to. */
const LEAVES_SOCKETS = `${LOOK}
def execute(params):
    seen = look()
    for _ in range(20):
        one, other = socket.socketpair()
        socket.send_fds(one, [b"x"], [one.fileno(), other.fileno()])
    return seen
`;
/** Holds pairs until as many calls as asked for do. */
const MEETS = `${LOOK}
def wait_for(suffix, params):
    open("/workspace/" + params["name"] + suffix, "w").close()
    while sum(name.endswith(suffix) for name in os.listdir("/workspace")) < params["callers"]:
        time.sleep(0.01)

def execute(params):
    seen = look()
    pairs = [socket.socketpair() for _ in range(5)]
    wait_for(".here", params)
    seen["sockets"] = rows()
    wait_for(".done", params)
    return seen
`;

interface Seen {
  network: string;
  sockets: number;
  writable: string[];
  interfaces: string[];
}

const AS_NEW = { sockets: 0, writable: [], interfaces: ['lo'] };
const CALLERS = 3;
const PATIENCE_MS = 30_000;

describe('the network namespaces of forks', () => {
  let open: TestRuntime;
  beforeAll(() => {
    open = openTestRuntime({ pool: { ready: 'zygote', maxStandby: 1, maxConcurrent: 64 } });
  });
  afterAll(() => open.close());

  /** A skill whose zygote is warm. */
  async function forking(source: string, manifest: object = {}): Promise<(params?: object) => Promise<Seen>> {
    const workspace = mkdtempSync(join(open.folder, 'workspace-'));
    // For cells of a root host, which run as another user.
    chmodSync(workspace, 0o777);
    const dir = writeSkill(open.folder, { source, manifest: { execution: ['subprocess'], ...manifest } });
    const skill = await open.runtime.load(dir);
    await open.runtime.warm(skill, { workspace });
    return async (params = {}) => {
      const outcome = await open.runtime.execute(skill, params, { workspace, reject: false });
      expect(outcome).toMatchObject({ ok: true, execution: { start: 'zygote' } });
      // A call is answered before its fork has ended and been waited for.
      await expect.poll(() => childPids(zygotePid()), { timeout: PATIENCE_MS }).toEqual([]);
      return (outcome.ok ? outcome.result : {}) as Seen;
    };
  }

  test('are different for calls at the same time, which see no socket of each other', async () => {
    const path = { path: '${workspace}', access: 'read-write' };
    const call = await forking(MEETS, { capabilities: { filesystem: [path] } });
    const names = Array.from({ length: CALLERS }, (_, index) => `caller-${index}`);
    const seen = await Promise.all(names.map((name) => call({ name, callers: CALLERS })));
    expect(new Set(seen.map(({ network }) => network)).size).toBe(CALLERS);
    for (const one of seen) expect(one).toMatchObject({ ...AS_NEW, sockets: 10 });
  });

  test('are used again, and empty', async () => {
    const call = await forking(ONLY_LOOKS);
    const first = await call();
    expect(first).toMatchObject(AS_NEW);
    expect(kept()).toEqual([first.network]);
    expect(await call()).toEqual(first);
    expect(kept()).toEqual([first.network]);
  });

  test('are kept for some of many calls at once, so that the zygote can still open files', async () => {
    const path = { path: '${workspace}', access: 'read-write' };
    const call = await forking(MEETS, { capabilities: { filesystem: [path] } });
    const callers = 40;
    const start = (_: unknown, index: number): Promise<Seen> =>
      call({ name: `one-of-many-${index}`, callers });
    const calls = Array.from({ length: callers - 1 }, start);
    await expect.poll(() => childPids(zygotePid()).length, { timeout: PATIENCE_MS }).toBe(callers - 1);
    expect(kept()).toHaveLength(32);
    const seen = await Promise.all([...calls, start(undefined, callers)]);
    expect(new Set(seen.map(({ network }) => network)).size).toBe(callers);
    expect(kept()).toHaveLength(32);
  });

  test('show nothing of sockets that an earlier call left in one another', async () => {
    const call = await forking(LEAVES_SOCKETS);
    for (let round = 0; round < 10; round++) expect(await call()).toMatchObject(AS_NEW);
  });

  // Again if the kernel learnt a protocol meanwhile, which shows in all namespaces; what a call leaves shows every time.
  test('look the same as new ones, whatever an earlier call did', { retry: 2 }, async () => {
    const call = await forking(READS_ALL);
    const all = async (): Promise<Record<string, string>> => {
      const found = (await call()) as unknown as Record<string, string>;
      // Of TCP, these are counted for the whole machine.
      return {
        ...found,
        sockstat: found['/proc/net/sockstat']?.replace(/ (?:orphan|alloc|mem) \d+/g, '') ?? '',
        '/proc/net/sockstat': '',
      };
    };
    const asNew = await all();
    expect(asNew['sockstat']).toMatch(/^sockets: used 0$/m);
    expect(Object.keys(asNew)).toEqual(expect.arrayContaining(['/proc/net/unix', '/proc/net/sockstat']));
    expect(Object.keys(asNew).length).toBeGreaterThan(30);
    for (let round = 0; round < 3; round++) expect(await all()).toEqual(asNew);
    expect(kept()).toHaveLength(1);
  });

  test('are not used while there is a socket in them', async () => {
    const call = await forking(ONLY_LOOKS);
    const first = await call();
    const occupant = spawn('nsenter', [`--net=${keptAt()}`, 'python3', '-I', '-c', OCCUPY], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await once(occupant.stdout, 'data');
      const second = await call();
      expect(second).toMatchObject(AS_NEW);
      expect(second.network).not.toBe(first.network);
    } finally {
      occupant.stdin.end();
      await once(occupant, 'exit');
    }
    expect((await call()).network).toBe(first.network);
  });

  test('are never used again if there is a gateway', async () => {
    const call = await forking(ONLY_LOOKS, { capabilities: { network: [{ host: 'example.com' }] } });
    for (let round = 0; round < 2; round++) {
      expect(await call()).toMatchObject({ interfaces: ['lo'], writable: [] });
      expect(kept()).toEqual([]);
    }
  });

  test('are used again whatever system calls the manifest denies', async () => {
    for (const syscalls of ['strict', { deny: ['setns', 'unshare', 'socketpair', 'poll'] }]) {
      const call = await forking(ONLY_LOOKS, { capabilities: { syscalls } });
      const first = await call();
      expect(first).toMatchObject(AS_NEW);
      expect(await call()).toEqual(first);
    }
  });
});

/** Holds a pair of sockets until its input ends. */
const OCCUPY = `
import socket, sys
pair = socket.socketpair()
print("ready", flush=True)
sys.stdin.read()
`;

const descriptors = (): string => `/proc/${zygotePid()}/fd`;

/** The namespaces that the zygote keeps. */
function kept(): string[] {
  return readdirSync(descriptors())
    .map((name) => readlinkSync(join(descriptors(), name)))
    .filter((target) => target.startsWith('net:'));
}

function keptAt(): string {
  const found = readdirSync(descriptors()).find((name) =>
    readlinkSync(join(descriptors(), name)).startsWith('net:'),
  );
  return join(descriptors(), found ?? 'none');
}
