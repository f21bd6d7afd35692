import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { childPids, cpuMsOf, measureTree } from '../../../src/cell/linux/memory-watch.ts';
import { startGatedPython } from '../walls/jail/gated-python.ts';
import type { GatedPython } from '../walls/jail/gated-python.ts';

const MIB = 1024 * 1024;
const running: GatedPython[] = [];

async function start(program: string): Promise<GatedPython> {
  const started = await startGatedPython(program);
  running.push(started);
  started.release();
  return started;
}

afterEach(async () => {
  // The programs exit when their stdin closes.
  for (const { child } of running) child.stdin.end();
  await Promise.all(running.map(({ exited }) => exited));
  running.length = 0;
});

const FAMILY = `
import os, signal
def hold():
    block = bytearray(os.urandom(4096) * (30 * 256))
    return block
down, up = os.pipe()
child = os.fork()
if child == 0:
    grandchild = os.fork()
    kept = hold()
    os.write(up, b"x")
    signal.pause()
kept = hold()
for _ in range(2): os.read(down, 1)
print("up", flush=True)
sys.stdin.read()
os.killpg(0, signal.SIGTERM)
`;

describe('measureTree', () => {
  it('counts the memory and the pids of a process, its child and its grandchild', async () => {
    const { pid, line } = await start(`import os; os.setsid()\n${FAMILY}`);
    expect(await line()).toBe('up');
    const usage = measureTree(pid);
    expect(usage.pids).toHaveLength(3);
    expect(usage.pids[0]).toBe(pid);
    expect(usage.rssBytes).toBeGreaterThan(90 * MIB);
    expect(usage.rssBytes).toBeLessThan(200 * MIB);
    expect(childPids(pid)).toEqual([usage.pids[1]]);
  });

  it('counts CPU time, including that of exited children', async () => {
    const burn = 'import os, time\ndef burn():\n    while time.process_time() < 0.15: pass\n';
    const { pid, line } = await start(
      `${burn}
if os.fork() == 0: burn(); os._exit(0)
os.wait(); burn()
print("burnt", flush=True); sys.stdin.read()`,
    );
    expect(await line()).toBe('burnt');
    const { cpuMs, pids } = measureTree(pid);
    expect(pids).toEqual([pid]);
    expect(cpuMs).toBeGreaterThanOrEqual(270);
    expect(cpuMsOf([pid])).toBeGreaterThanOrEqual(270);
  });

  it('is not misled by a process name that looks like a stat line', async () => {
    const { pid, line } = await start(
      'open("/proc/self/comm", "w").write("x) R 1 (y) S 1")\nprint("named", flush=True); sys.stdin.read()',
    );
    expect(await line()).toBe('named');
    expect(childPids(process.pid)).toContain(pid);
    expect(measureTree(pid).pids).toEqual([pid]);
  });

  it('returns zeros if the process is gone', async () => {
    const { pid, child, exited } = await start('');
    child.stdin.end();
    await exited;
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(measureTree(pid)).toEqual({ rssBytes: 0, cpuMs: 0, pids: [] });
    expect(childPids(pid)).toEqual([]);
    expect(cpuMsOf([pid])).toBe(0);
  });
});
