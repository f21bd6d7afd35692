/**
 * Every attack of the corpus works without the wall, is stopped by it, and gets the answer it must get,
 * however its cell was started and whatever enforces the memory limit.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { sourceNames } from '../../attacks/runner/attack-source.ts';
import { PATH_TRICKS } from '../../attacks/runner/path-tricks.ts';
import { SUBPROCESS_ATTACKS } from '../../attacks/runner/subprocess-attacks.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { ON_THE_OTHERS, ON_THE_WALL } from './on-the-wall.ts';
import { itStops, suiteHome } from './suite.ts';

const ALL = [...SUBPROCESS_ATTACKS, ...PATH_TRICKS];
/** What a watchdog that reads /proc could miss. */
const ON_MEMORY = SUBPROCESS_ATTACKS.filter(({ limits }) => limits.includes('memory'))
  // Without a cgroup, limits that several processes share are refused (test/cli/plain-user.test.ts), and nothing counts the
  // TCP buffers of a cell with hosts (docs/security/subprocess-isolation.md).
  .filter(
    ({ name }) => !['many_processes_memory', 'memory_in_orphans', 'tcp_buffers_beside_host'].includes(name),
  );
/** Attacks for which it matters how a cell was started. */
const FORKED = SUBPROCESS_ATTACKS.filter(({ name }) => [...ON_THE_WALL, ...ON_THE_OTHERS].includes(name));
const WITHOUT_CONTROLS = { mode: 'subprocess', controls: false, answers: false } as const;

describe('the attack corpus', () => {
  const home = suiteHome();

  it('has an expectation for every source and a source for every expectation', () => {
    expect(SUBPROCESS_ATTACKS.map(({ name }) => name).sort()).toEqual(sourceNames('subprocess'));
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
  });

  describe('in subprocess mode', () => {
    const rows = itStops({ mode: 'subprocess', attacks: ALL, home });

    it('prints a table with the result', () => {
      const table = formatTable(rows());
      expect(table).toContain(`${ALL.length} of ${ALL.length} attacks stopped`);
      expect(table).not.toContain('NOT STOPPED');
    });
  });

  describe('in cells forked from a zygote', () => {
    itStops({
      ...WITHOUT_CONTROLS,
      attacks: FORKED,
      home,
      runtime: { pool: { ready: 'zygote' } },
      before: async (runtime, [bundle, , call]) =>
        runtime.warm(await runtime.load(bundle), call).catch(() => undefined),
    });
  });

  describe('without control groups', () => {
    itStops({ ...WITHOUT_CONTROLS, attacks: ON_MEMORY, home, runtime: { jail: { cgroups: false } } });
  });
});
