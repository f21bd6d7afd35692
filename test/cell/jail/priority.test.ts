/**
 * Cells of `subprocess` step back behind the host when they are told to, and only then.
 */
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import { childPids } from '../../../src/cell/jail/memory-watch.ts';
import type { JailOptions } from '../../../src/cell/jail/wall.ts';
import type { ExecuteOptions } from '../../../src/index.ts';
import { writeSkill } from '../../write-skill.ts';
import { openTestRuntime } from '../test-runtime.ts';

/** A machine that is busy takes its time to start a cell. */
const POLL = { timeout: 15_000, interval: 20 };
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

describe.each([
  ['as far as they are told', { niceness: 7 }, 7],
  ['not at all otherwise', {}, 0],
])('they step back %s', (_, jail, niceness) => {
  test('as processes', async () => {
    expect(await run(jail, (call) => call())).toBe(niceness);
  });

  test('as sessions where the kernel knows them, without the host', async () => {
    const own = sessionOf('self');
    await run(jail, async (call) => {
      const calling = call({ seconds: 1 });
      const expected = own === undefined ? undefined : `nice ${niceness}`;
      const below = (): Session[] => cellsBelow(process.pid);
      await expect.poll(below, POLL).toContainEqual({ process: niceness, session: expected });
      await calling;
    });
    expect(sessionOf('self')).toBe(own);
  });
});

test.each([-1, 20, 1.5, Number.NaN])('%s is refused', (niceness) => {
  expect(() => openTestRuntime({ jail: { niceness } })).toThrow(/no whole number from 0 to 19/);
});

interface Session {
  process: number;
  session: string | undefined;
}

/** How far the cells of this host step back, as the kernel tells it. */
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
