/**
 * Every attack of the corpus works without the wall, is stopped by it, and gets the answer it must get,
 * however its cell was started and whoever keeps the memory limit.
 *
 * @module
 */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../attacks/runner/expectations.ts';
import { PATH_TRICKS } from '../../attacks/runner/path-tricks.ts';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { createRuntime, type RuntimeOptions } from '../../src/runtime.ts';
import { ON_THE_OTHERS, ON_THE_WALL } from './on-the-wall.ts';

const CORPUS = join(import.meta.dirname, '..', '..', 'attacks', 'subprocess');
const ATTACK_NAMES = ATTACKS.map(({ name }) => name).sort();
const ALL_NAMES = [...ATTACK_NAMES, ...PATH_TRICKS.map(({ name }) => name)].sort();
/** What a watchdog that reads /proc could miss. */
const MEMORY_NAMES = ATTACKS.filter(({ limits }) => limits.includes('memory'))
  .map(({ name }) => name)
  // Without a group, limits that several processes share are refused (test/cli/plain-user.test.ts), and nothing counts the
  // buffers of TCP of a cell with hosts (docs/security/subprocess-isolation.md).
  .filter(
    (name) => !['many_processes_memory', 'memory_in_orphans', 'tcp_buffers_beside_host'].includes(name),
  );
/** Where it matters how a cell came into being. */
const FORKED_NAMES = [...ON_THE_WALL, ...ON_THE_OTHERS];
const RUN_MS = 600_000;

interface Corpus {
  names: readonly string[];
  /** The runs without the wall; once is enough to show that an attack is one. */
  controls: boolean;
}

async function runCorpus(options: RuntimeOptions, corpus: Corpus): Promise<Map<string, AttackRow>> {
  const home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
  // Cells of a root host run as nobody in particular and have to reach the store.
  await chmod(home, 0o755);
  try {
    await using runtime = createRuntime({ ...options, home });
    const rows = await runAttacks({
      mode: 'subprocess',
      ...corpus,
      execute: async (bundle, params, call) => {
        if (options.pool?.ready === 'zygote') {
          await runtime.warm(await runtime.load(bundle), call).catch(() => undefined);
        }
        return runtime.execute(bundle, params, { ...call, reject: false });
      },
    });
    return new Map(rows.map((row) => [row.name, row]));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('the attack corpus', () => {
  it('has an expectation for every bundle and a bundle for every expectation', async () => {
    expect(ATTACK_NAMES).toEqual((await readdir(CORPUS)).sort());
    expect(new Set(ALL_NAMES).size).toBe(ALL_NAMES.length);
  });

  describe('in subprocess mode', () => {
    let rows: Map<string, AttackRow>;
    beforeAll(async () => void (rows = await runCorpus({}, { names: ALL_NAMES, controls: true })), RUN_MS);

    it.each(ALL_NAMES)('stops %s', (name) => {
      expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ control: 'works', stopped: true });
      expect(rows.get(name)?.unexpected).toBeUndefined();
    });

    it('prints a table that says so', () => {
      const table = formatTable([...rows.values()]);
      expect(table).toContain(`${ALL_NAMES.length} of ${ALL_NAMES.length} attacks stopped`);
      expect(table).not.toContain('NOT STOPPED');
    });
  });

  describe('in cells forked from a zygote', () => {
    let rows: Map<string, AttackRow>;
    beforeAll(
      async () =>
        void (rows = await runCorpus(
          { pool: { ready: 'zygote' } },
          { names: FORKED_NAMES, controls: false },
        )),
      RUN_MS,
    );

    it.each(FORKED_NAMES)('stops %s', (name) => {
      expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ stopped: true });
    });
  });

  describe('without control groups', () => {
    let rows: Map<string, AttackRow>;
    beforeAll(
      async () =>
        void (rows = await runCorpus({ jail: { cgroups: false } }, { names: MEMORY_NAMES, controls: false })),
      RUN_MS,
    );

    it.each(MEMORY_NAMES)('stops %s', (name) => {
      expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ stopped: true });
    });
  });
});
