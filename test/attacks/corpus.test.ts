/**
 * Every attack of the corpus works without the wall, is stopped by it, and gets the answer it must get.
 *
 * @module
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../attacks/runner/expectations.ts';
import { PATH_TRICKS } from '../../attacks/runner/path-tricks.ts';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { createRuntime } from '../../src/runtime.ts';

const CORPUS = join(import.meta.dirname, '..', '..', 'attacks', 'subprocess');
const NAMES = [...ATTACKS, ...PATH_TRICKS].map(({ name }) => name).sort();
const RUN_MS = 240_000;

describe('the attack corpus', () => {
  it('has an expectation for every bundle and a bundle for every expectation', async () => {
    const bundles = await readdir(CORPUS);
    expect(ATTACKS.map(({ name }) => name).sort()).toEqual(bundles.sort());
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  describe('in subprocess mode', () => {
    const rows = new Map<string, AttackRow>();
    let home: string;

    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
      await using runtime = createRuntime({ home });
      const found = await runAttacks({
        mode: 'subprocess',
        execute: (bundle, params, options) => runtime.execute(bundle, params, { ...options, reject: false }),
      });
      for (const row of found) rows.set(row.name, row);
    }, RUN_MS);

    afterAll(() => rm(home, { recursive: true, force: true }));

    it.each(NAMES)('stops %s', (name) => {
      expect(rows.get(name)).toMatchObject({ control: 'works', stopped: true });
      expect(rows.get(name)?.unexpected).toBeUndefined();
    });

    it('prints a table that says so', () => {
      const table = formatTable([...rows.values()]);
      expect(table).toContain(`${NAMES.length} of ${NAMES.length} attacks stopped`);
      expect(table).not.toContain('NOT STOPPED');
    });
  });
});
