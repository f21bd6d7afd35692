/** Tests the real control groups of this machine. Without usable ones, tests the reported reason. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { examineCgroups, probeCgroups } from '../../../../src/cell/linux/cgroup/cgroup.ts';
import type { Cgroup, CgroupDriver } from '../../../../src/cell/linux/cgroup/cgroup.ts';
import { SpareCgroups } from '../../../../src/cell/linux/cgroup/spare-cgroups.ts';
import { createV1Driver } from '../../../../src/cell/linux/cgroup/v1.ts';
import { pidNamespace } from '../../../../src/cell/linux/process-identity.ts';
import { SkillError } from '../../../../src/errors.ts';
import { startGatedPython, type GatedPython } from '../../walls/jail/gated-python.ts';

const MIB = 1024 * 1024;
/** Fills the buffers of loopback connections that are never read. */
const FILL_TCP = `
import socket
listener = socket.create_server(("127.0.0.1", 0)); pairs, sent = [], 0
for _ in range(40):
    client = socket.create_connection(listener.getsockname()); pairs.append((client, listener.accept()[0])); client.setblocking(False)
    try:
        for _ in range(400): sent += client.send(bytes(65536))
    except BlockingIOError: pass
print(sent, flush=True); sys.stdin.read()`;
const ALLOCATE = 'block = bytearray(200 * 1024 * 1024); print(len(block), flush=True); sys.stdin.read()';

/** Our directories in every hierarchy we use. */
function leftovers(driver: CgroupDriver): string[] {
  return driver.directories.filter((directory) => existsSync(directory));
}

function withDriver(driver: CgroupDriver): void {
  // Counters of v2 cannot be reset.
  const canRenew = driver.version === 1;

  afterAll(async () => {
    await driver.close();
  });

  /** Runs a program inside of a new group. */
  async function startIn(
    name: string,
    memory: number,
    program: string,
  ): Promise<{ python: GatedPython; group: Cgroup }> {
    const python = await startGatedPython(program);
    const group = driver.create(name, { memory });
    await group.attach(python.pid);
    python.release();
    return { python, group };
  }

  it('leaves nothing behind after probing', () => {
    const second = probeCgroups();
    expect(second?.version).toBe(driver.version);
    expect(leftovers(driver)).toEqual([]);
    expect(second && leftovers(second)).toEqual([]);
  });

  it('kills a process that allocates beyond the limit, reports it, and is removed completely', async () => {
    const python = await startGatedPython(ALLOCATE);
    const group = driver.create('bomb', { memory: 64 * MIB });
    await group.attach(python.pid);
    expect(group.members()).toEqual([python.pid]);
    expect(group.oomKilled()).toBe(false);
    python.release();
    expect(await python.exited).toBe('SIGKILL');
    expect(group.oomKilled()).toBe(true);
    expect(group.usage().memoryPeakBytes).toBeGreaterThan(32 * MIB);
    expect(group.usage().memoryPeakBytes).toBeLessThanOrEqual(64 * MIB);
    expect(await group.remove()).toBe(true);
    expect(await driver.close()).toBe(true);
    expect(leftovers(driver)).toEqual([]);
  });

  it('limits the TCP buffers of a group', async () => {
    const unbound = await startGatedPython(FILL_TCP);
    unbound.release();
    const free = Number(await unbound.line());
    unbound.child.stdin.end();
    await unbound.exited;
    const { python, group } = await startIn('buffers', 48 * MIB, FILL_TCP);
    const bound = Number(await python.line());
    python.child.stdin.end();
    expect(await python.exited).toBe(0);
    expect(free).toBeGreaterThan(64 * MIB);
    expect(bound).toBeLessThan(48 * MIB);
    expect(await group.remove()).toBe(true);
  });

  it('lets the same program run under a larger limit, as a control', async () => {
    const { python, group } = await startIn('roomy', 400 * MIB, ALLOCATE);
    expect(await python.line()).toBe(String(200 * MIB));
    python.child.stdin.end();
    expect(await python.exited).toBe(0);
    expect(group.oomKilled()).toBe(false);
    expect(group.usage().memoryPeakBytes).toBeGreaterThan(190 * MIB);
    expect(await group.remove()).toBe(true);
  });

  it('reports the CPU time of the whole group', async () => {
    const { python, group } = await startIn(
      'busy',
      64 * MIB,
      'import os, time\nif os.fork() == 0:\n    while time.process_time() < 0.2: pass\n    os._exit(0)\nos.wait()',
    );
    expect(await python.exited).toBe(0);
    expect(group.usage().cpuMs).toBeGreaterThan(150);
    expect(group.usage().cpuMs).toBeLessThan(5000);
    expect(await group.remove()).toBe(true);
  });

  it('kills all processes of a group, and cannot be removed before', async () => {
    const { python, group } = await startIn(
      'family',
      128 * MIB,
      'import os, time\nfor _ in range(5):\n    if os.fork() == 0: time.sleep(60); os._exit(0)\nprint("up", flush=True); time.sleep(60)',
    );
    await python.line();
    const family = group.members();
    expect(family).toHaveLength(6);
    expect(await group.remove()).toBe(false);
    expect(await driver.close()).toBe(false);
    group.kill();
    expect(await python.exited).toBe('SIGKILL');
    expect(await group.remove()).toBe(true);
    expect(group.members()).toEqual([]);
    expect(await driver.close()).toBe(true);
  });

  it('lends a group again only when nothing of the cell before is left in it', async () => {
    const limits = { memory: 64 * MIB };
    let made = 0;
    const spare = new SpareCgroups((asked) => driver.createAsync(`spare-${++made}`, asked));
    const lend = async (program: string): Promise<{ group: Cgroup; end: () => Promise<unknown> }> => {
      const python = await startGatedPython(program);
      const group = await spare.take(limits);
      await group.attach(python.pid);
      python.release();
      const end = (): Promise<unknown> => (python.child.stdin.end(), python.exited);
      if (!program.includes('print')) await python.exited;
      else await python.line();
      return { group, end };
    };
    const busy = await lend('import time\nwhile time.process_time() < 0.2: pass');
    expect(busy.group.usage().cpuMs).toBeGreaterThan(100);
    expect(await busy.group.remove()).toBe(true);
    const next = await spare.take(limits);
    expect(next.members()).toEqual([]);
    if (canRenew) expect(next.usage().cpuMs).toBe(0);
    expect(next.usage().memoryPeakBytes).toBeLessThanOrEqual(MIB);
    expect(made).toBe(canRenew ? 1 : 2);
    await next.remove();
    const other = await spare.take({ memory: 65 * MIB });
    expect(made).toBe(canRenew ? 2 : 3);
    await other.remove();
    const before = made;
    const alive = await lend('print("up", flush=True); sys.stdin.read()');
    const isGone = alive.group.remove();
    const beside = await spare.take(limits);
    expect(beside.members()).toEqual([]);
    expect(made).toBe(before + 1);
    await alive.end();
    await isGone;
    await beside.remove();
    const killed = await lend(ALLOCATE);
    await killed.end();
    expect(killed.group.oomKilled()).toBe(true);
    await killed.group.remove();
    const fresh = await Promise.all(Array.from({ length: 3 }, () => spare.take(limits)));
    expect(fresh.map((group) => group.oomKilled())).toEqual([false, false, false]);
    for (const group of fresh) await group.remove();
    await spare.close();
    expect(await driver.close()).toBe(true);
    expect(leftovers(driver)).toEqual([]);
  });

  it('ignores a dead process when attaching', async () => {
    const python = await startGatedPython('');
    python.release();
    await python.exited;
    const group = driver.create('late', { memory: 64 * MIB });
    await expect(group.attach(python.pid)).resolves.toBeUndefined();
    expect(group.members()).toEqual([]);
    expect(await group.remove()).toBe(true);
  });

  it('refuses a name that exists or leaves the hierarchy, and invalid limits', async () => {
    const group = driver.create('once', { memory: 64 * MIB });
    expect(() => driver.create('once', { memory: 64 * MIB })).toThrow(SkillError);
    for (const name of ['../up', 'a/b', '', '.', '..', 'new\nline']) {
      expect(() => driver.create(name, { memory: 64 * MIB })).toThrow(/Bad control group request/);
    }
    for (const memory of [0, -1, 1.5, Number.NaN, Infinity]) {
      expect(() => driver.create('bad', { memory })).toThrow(/Bad control group request/);
    }
    expect(await group.remove()).toBe(true);
  });

  it('removes only the leftovers of dead runtimes', async () => {
    const root = dirname(driver.directories[0] ?? '');
    const deadPid = spawnSync('/bin/true').pid;
    const stale = join(root, `skillcell-${deadPid}-${pidNamespace()}-test`);
    mkdirSync(join(stale, 'cell-1'), { recursive: true });
    // In another namespace, where the same pid may be a live host.
    const elsewhere = join(root, `skillcell-${deadPid}-1-test`);
    mkdirSync(elsewhere);
    const alive = driver.create('alive', { memory: 64 * MIB });
    expect(driver.sweepStale()).toContain(stale);
    expect(existsSync(stale)).toBe(false);
    expect(existsSync(elsewhere)).toBe(true);
    rmdirSync(elsewhere);
    expect(readdirSync(driver.directories[0] ?? '')).toContain('alive');
    expect(await alive.remove()).toBe(true);
    expect(await driver.close()).toBe(true);
  });

  if (driver.limitsPids) {
    it('stops forks at the pids limit', async () => {
      const python = await startGatedPython(
        'import os, time\ncount = 0\ntry:\n    for _ in range(20):\n        if os.fork() == 0: time.sleep(60); os._exit(0)\n        count += 1\nexcept BlockingIOError: pass\nprint(count, flush=True); time.sleep(60)',
      );
      const group = driver.create('forks', { memory: 128 * MIB, pids: 4 });
      await group.attach(python.pid);
      python.release();
      expect(await python.line()).toBe('3');
      group.kill();
      expect(await python.exited).toBe('SIGKILL');
      expect(await group.remove()).toBe(true);
    });
  }

  if (driver.version === 1) {
    it('reads CPU time from /proc and refuses a pids limit if v1 has only the memory controller', async () => {
      const alone = createV1Driver({ memory: dirname(driver.directories[0] ?? '') });
      expect(() => alone.create('x', { memory: 64 * MIB, pids: 2 })).toThrow(/no pids controller/);
      const python = await startGatedPython(
        'import time\nwhile time.process_time() < 0.2: pass\nprint("burnt", flush=True); sys.stdin.read()',
      );
      const group = alone.create('x', { memory: 64 * MIB });
      await group.attach(python.pid);
      python.release();
      await python.line();
      expect(group.usage().cpuMs).toBeGreaterThanOrEqual(180);
      python.child.stdin.end();
      await python.exited;
      expect(await group.remove()).toBe(true);
      expect(await alone.close()).toBe(true);
    });

    it('works without an optional v1 hierarchy that is not writable', () => {
      const memory = dirname(driver.directories[0] ?? '');
      const before = ownParents(memory);
      const probe = examineCgroups({
        v1: new Map([
          ['memory', memory],
          ['pids', '/proc/self'],
        ]),
      });
      expect(probe.driver?.describe).toBe('cgroup v1 (memory)');
      expect(ownParents(memory)).toEqual(before);
    });
  }
}

function ownParents(root: string): string[] {
  return readdirSync(root).filter((name) => name.startsWith(`skillcell-${process.pid}-`));
}

const probe = examineCgroups();
if (probe.driver) {
  const { driver } = probe;
  describe(`the driver ${driver.describe}`, () => withDriver(driver));
} else {
  it('the probe reports why there is no control group', () => expect(probe.reason).toMatch(/\w.*\.$/));
}

describe('without a usable hierarchy', () => {
  it('the probe reports one reason per attempt', () => {
    const nowhere = examineCgroups({ v1: new Map() });
    expect(nowhere).toEqual({
      reason: 'The unified (v2) hierarchy is not mounted. The v1 memory controller is not mounted.',
    });
    const unwritable = examineCgroups({ v1: new Map([['memory', '/proc/self']]) });
    expect(unwritable.driver).toBeUndefined();
    expect(JSON.stringify(unwritable)).toContain('/proc/self/skillcell-');
  });
});

afterAll(() => {
  if (!probe.driver) return;
  for (const directory of leftovers(probe.driver)) rmdirSync(directory);
});
