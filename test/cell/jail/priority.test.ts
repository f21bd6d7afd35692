/**
 * Cells of `subprocess` step back behind the host when they are told to, and only then.
 */
import { existsSync, readFileSync } from 'node:fs';
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

  test.runIf(existsSync('/proc/self/autogroup'))('as sessions, without the host', async () => {
    const own = readFileSync('/proc/self/autogroup', 'utf8');
    await run(jail, async (call) => {
      const calling = call({ seconds: 1 });
      await expect.poll(() => sessionsBelow(process.pid), POLL).toContainEqual(`nice ${niceness}`);
      await calling;
    });
    expect(readFileSync('/proc/self/autogroup', 'utf8')).toBe(own);
  });
});

/** What the sessions of the cells of this host are, as the kernel tells it. */
function sessionsBelow(host: number): string[] {
  return childPids(host)
    .flatMap(childPids)
    .map((pid) => {
      try {
        return /nice -?\d+/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[0] ?? '';
      } catch {
        return '';
      }
    });
}
