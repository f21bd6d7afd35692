/**
 * What every suite of attacks does: runs them against its own runtime, and checks in each row that the attack was stopped,
 * with a required answer, and that its control works.
 *
 * @module
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasControl, type Attack } from '../../attacks/runner/attack.ts';
import { ATTACK_POLICY } from '../../attacks/runner/policy.ts';
import { runAttacks, type AttackRow, type RunOptions } from '../../attacks/runner/run-attacks.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime.ts';

const ATTACKED: RuntimeOptions = { policy: ATTACK_POLICY, audit: false };

/** A home for all runs of a suite, so that engines are installed once. */
export function suiteHome(): () => string {
  let home = '';
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
    // Cells of a root host run as another user and must be able to reach the store.
    await chmod(home, 0o755);
  });
  afterAll(() => rm(home, { recursive: true, force: true }));
  return () => home;
}

export interface SuiteRun extends Omit<RunOptions, 'execute' | 'names'> {
  attacks: readonly Attack<unknown>[];
  home: () => string;
  runtime?: RuntimeOptions;
  /** False if the limit that is hit first depends on how cells were started. */
  answers?: boolean;
  /** Runs before anything else, with the home. */
  furnish?: (home: string) => Promise<unknown>;
  /** Runs before each call. */
  before?: (runtime: Runtime, call: Parameters<RunOptions['execute']>) => Promise<unknown>;
}

/** Runs the attacks before the tests, and has a test for each. Without controls, only the wall is checked. */
export function itStops(run: SuiteRun): () => readonly AttackRow[] {
  let rows: AttackRow[] = [];
  beforeAll(async () => void (rows = await rowsOf(run)));

  it.each(run.attacks)('stops $name', (attack) => {
    const row = rows.find(({ name }) => name === attack.name);
    const control = hasControl(attack) ? 'works' : 'n/a';
    expect(row, `${row?.evidence} ${row?.controlEvidence}`).toMatchObject({
      stopped: true,
      ...(run.controls === false ? {} : { control }),
    });
    if (run.answers !== false) expect(row?.unexpected, row?.evidence).toBeUndefined();
  });

  it('runs each attack once', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(run.attacks.map(({ name }) => name).sort());
  });
  return () => rows;
}

async function rowsOf({
  attacks,
  home,
  runtime: options,
  furnish,
  before,
  ...run
}: SuiteRun): Promise<AttackRow[]> {
  await furnish?.(home());
  await using runtime = createRuntime({ ...options, home: home() });
  return await runAttacks({
    ...run,
    names: attacks.map(({ name }) => name),
    execute: async (...call) => {
      await before?.(runtime, call);
      const [bundle, params, limits] = call;
      return runtime.execute(bundle, params, { ...limits, reject: false });
    },
  });
}

/** Attacks on Wasm cells: all of them in the jail, and without one those that reach the wall. */
export function itStopsInWasm(
  all: readonly Attack<unknown>[],
  atTheWall: readonly Attack<unknown>[],
): () => string {
  const home = suiteHome();
  describe('in the jail', () => {
    itStops({ mode: 'wasm', attacks: all, home, runtime: ATTACKED });
  });
  describe('without a jail', () => {
    const runtime = { ...ATTACKED, jail: { bwrap: '/nonexistent' } };
    itStops({ mode: 'wasm', attacks: atTheWall, home, runtime, controls: false });
  });
  return home;
}
