/**
 * Cells of `subprocess` run at a lower priority than the host if the operator asks for it, and only then.
 */
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import { childPids } from '../../../src/cell/linux/memory-watch.ts';
import type { JailOptions } from '../../../src/cell/walls/jail/wall.ts';
import type { ExecuteOptions } from '../../../src/index.ts';
import { writeSkill } from '../../write-skill.ts';
import { openTestRuntime } from '../test-runtime.ts';

/** A busy machine takes long to start a cell. */
const POLL = { interval: 20 };
/** Checked by existence, because the file is empty for a process outside of all autogroups. */
const KERNEL_HAS_AUTOGROUPS = existsSync('/proc/self/autogroup');
const SOURCE = `
  import os, time
  def execute(params):
      time.sleep(params.get("seconds", 0))
      return os.getpriority(os.PRIO_PROCESS, 0)
`;

async function run<T>(jail: JailOptions, use: (opened: Opened) => Promise<T>): Promise<T> {
  const { runtime, folder, close } = openTestRuntime({ jail, pool: { size: 0 } });
  try {
    const skill = await runtime.load(writeSkill(folder, { source: SOURCE }));
    return await use((params = {}, options = {}) =>
      runtime.execute(skill, params, { execution: 'subprocess', ...options }).then(({ result }) => result),
    );
  } finally {
    await close();
  }
}

type Opened = (params?: Record<string, unknown>, options?: ExecuteOptions) => Promise<unknown>;

describe.each<[string, JailOptions, number]>([
  ['with niceness 7', { niceness: 7 }, 7],
  ['without a niceness', {}, getPriority()],
])('a cell %s', (_, jail, niceness) => {
  test('runs its processes at that priority', async () => {
    expect(await run(jail, (call) => call())).toBe(niceness);
  });

  test('gives its session that priority, and leaves the session of the host unchanged', async () => {
    const own = sessionOf('self');
    await run(jail, async (call) => {
      const seen = new AbortController();
      const calling = call({ seconds: 25 }, { signal: seen.signal });
      const expected = KERNEL_HAS_AUTOGROUPS ? `nice ${jail.niceness ?? 0}` : undefined;
      const below = (): Session[] => cellsBelow(process.pid);
      const watching = expect.poll(below, POLL).toContainEqual({ process: niceness, session: expected });
      await watching.finally(() => seen.abort());
      await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
    });
    expect(sessionOf('self')).toBe(own);
  });
});

test.each([-1, 20, 1.5, Number.NaN])('a niceness of %s is refused', (niceness) => {
  expect(() => openTestRuntime({ jail: { niceness } })).toThrow(/not a whole number from 0 to 19/);
});

interface Session {
  process: number;
  session: string | undefined;
}

/** The priorities of the cells of this host, as the kernel reports them. */
function cellsBelow(host: number): Session[] {
  return childPids(host)
    .flatMap(childPids)
    .flatMap((pid) => {
      try {
        return [{ process: getPriority(pid), session: sessionOf(pid) }];
      } catch {
        return [];
      }
    });
}

function sessionOf(pid: number | 'self'): string | undefined {
  try {
    return /nice -?\d+/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}
