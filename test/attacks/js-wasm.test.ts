/**
 * Every attack on JavaScript in Wasm is stopped and gets the answer it must get, inside the jail and where there is none.
 *
 * @module
 */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JS_ATTACKS } from '../../attacks/runner/js-expectations.ts';
import { ATTACK_POLICY } from '../../attacks/runner/policy.ts';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import { JAVASCRIPT } from '../../attacks/runner/run-script.ts';
import { createRuntime, type RuntimeOptions } from '../../src/runtime.ts';

const NAMES = JS_ATTACKS.map(({ name }) => name);
/** What asks the host for something, looks for it, or goes beyond a limit; the rest never leaves the engine. */
const AT_THE_WALL = JS_ATTACKS.filter(
  ({ name, codes }) =>
    /^js_(?:import|walk|read)/.test(name) ||
    codes.some((code) => code === 'capability_denied' || code === 'resource_exceeded'),
).map(({ name }) => name);
const RUN_MS = 600_000;

type Rows = Map<string, AttackRow>;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function runCorpus(options: RuntimeOptions, names: readonly string[]): Promise<Rows> {
  await using runtime = createRuntime({ ...options, home, policy: ATTACK_POLICY, audit: false });
  const rows = await runAttacks({
    mode: 'wasm',
    names,
    controls: names === NAMES,
    execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
  });
  return new Map(rows.map((row) => [row.name, row]));
}

it('has a bundle for every attack and an attack for every bundle', async () => {
  expect(NAMES.toSorted()).toEqual((await readdir(JAVASCRIPT.dir)).sort());
});

describe('the attacks on JavaScript in Wasm', () => {
  describe('in the jail', () => {
    let rows: Rows;
    beforeAll(async () => void (rows = await runCorpus({}, NAMES)), RUN_MS);

    it.each(JS_ATTACKS)('stops $name', ({ name, control }) => {
      const row = rows.get(name);
      const shown = 'none' in control ? 'n/a' : 'works';
      expect(row, `${row?.evidence} ${row?.controlEvidence}`).toMatchObject({
        control: shown,
        stopped: true,
      });
      expect(row?.unexpected, row?.evidence).toBeUndefined();
    });
  });

  describe('where no jail can be had', () => {
    let rows: Rows;
    const withoutJail = { jail: { bwrap: '/nonexistent' } };
    beforeAll(async () => void (rows = await runCorpus(withoutJail, AT_THE_WALL)), RUN_MS);

    it.each(AT_THE_WALL)('stops %s', (name) => {
      const row = rows.get(name);
      expect(row, row?.evidence).toMatchObject({ stopped: true });
      expect(row?.unexpected, row?.evidence).toBeUndefined();
    });
  });
});
