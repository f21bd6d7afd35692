/**
 * Every attack on Python in Wasm is stopped and gets the answer it must get, inside the jail and where there is none, and
 * the interpreter is byte for byte what it was before.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTACK_POLICY } from '../../attacks/runner/policy.ts';
import { PYTHON_ATTACKS } from '../../attacks/runner/python-expectations.ts';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import { PYTHON } from '../../attacks/runner/run-script.ts';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { findNode } from '../../src/cell/node/node-binary.ts';
import { createRuntime, type RuntimeOptions } from '../../src/runtime.ts';

const run = promisify(execFile);
const NAMES = PYTHON_ATTACKS.map(({ name }) => name);
/** What asks the host for something, looks for it, or goes beyond a limit; the rest never leaves the engine. */
const AT_THE_WALL = PYTHON_ATTACKS.filter(
  ({ name, codes }) =>
    /^py_(?:import|walk|read|write|forge|interrupt)/.test(name) ||
    codes.some((code) => code === 'capability_denied' || code === 'resource_exceeded'),
).map(({ name }) => name);
const RUN_MS = 600_000;
const HOST = join(import.meta.dirname, 'python-image-host.ts');
/** As in a real cell, beside room for a second copy of the memory. */
const HOST_FLAGS = ['--max-old-space-size=256', '--stack-size=7000', '--expose-gc'];

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
  const bundles = new Set(PYTHON_ATTACKS.map(({ bundle }) => bundle));
  expect([...bundles].sort()).toEqual((await readdir(PYTHON.dir)).sort());
  const all = [...NAMES, ...WASM_ATTACKS.map(({ name }) => name)];
  expect(new Set(all).size).toBe(all.length);
});

describe('the attacks on Python in Wasm', () => {
  describe('in the jail', () => {
    let rows: Rows;
    beforeAll(async () => void (rows = await runCorpus({}, NAMES)), RUN_MS);

    it.each(PYTHON_ATTACKS)('stops $name', ({ name, control }) => {
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

  describe('leave the memory of the interpreter as it was', () => {
    let verdicts: Map<string, { changed: boolean; differences: string[] }>;
    beforeAll(async () => {
      const { stdout } = await run(findNode(home).path, [...HOST_FLAGS, HOST, home]);
      const lines = stdout.trim().split('\n');
      verdicts = new Map(
        lines.map((line) => {
          const { name, ...verdict } = JSON.parse(line);
          return [name, verdict];
        }),
      );
    }, RUN_MS);

    it.each(NAMES)('%s', (name) => {
      const verdict = verdicts.get(name);
      expect(verdict?.differences).toEqual([]);
      // What never ends loading has no cell that could be called.
      expect(verdict?.changed).toBe(name !== 'py_block_at_import');
    });
  });
});
