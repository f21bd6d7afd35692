/**
 * Every attack on Wasm cells is stopped and gets the answer it must get, inside the jail and where there is none.
 *
 * @module
 */
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ATTACK_POLICY } from '../../attacks/runner/policy.ts';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { FILE_ATTACKS } from '../../attacks/wasm/corpus/files.ts';
import { HTTP_ATTACKS } from '../../attacks/wasm/corpus/http.ts';
import { LIMIT_ATTACKS } from '../../attacks/wasm/corpus/limits.ts';
import { BUILT_DIR, PROGRAMS } from '../../attacks/wasm/programs.ts';
import { createRuntime, type RuntimeOptions } from '../../src/runtime.ts';
import { wat } from '../wasm/binary/support.ts';

const NAMES = WASM_ATTACKS.map(({ name }) => name);
/** What asks the host for something or goes beyond a limit; linker and installer judge the rest, whatever is around them. */
const AT_THE_WALL = [...FILE_ATTACKS, ...LIMIT_ATTACKS, ...HTTP_ATTACKS].map(({ name }) => name);
const RUN_MS = 600_000;

type Rows = Map<string, AttackRow>;

async function runCorpus(options: RuntimeOptions, names: readonly string[]): Promise<Rows> {
  const home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
  await chmod(home, 0o755);
  try {
    await using runtime = createRuntime({ ...options, home, policy: ATTACK_POLICY, audit: false });
    const rows = await runAttacks({
      mode: 'wasm',
      names,
      // Once is enough to show that an attack is one.
      controls: names === NAMES,
      execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
    });
    return new Map(rows.map((row) => [row.name, row]));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

describe('the programs of the attacks', () => {
  it('are what their text says', async () => {
    const built = await readdir(BUILT_DIR);
    expect(built.sort()).toEqual(
      Object.keys(PROGRAMS)
        .map((name) => `${name}.wasm`)
        .sort(),
    );
    for (const [name, text] of Object.entries(PROGRAMS)) {
      const bytes = await readFile(join(BUILT_DIR, `${name}.wasm`));
      expect(bytes.equals(wat(text)), `${name}: run npm run build:attacks`).toBe(true);
    }
  });

  it('have names of their own', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });
});

describe('the attacks on Wasm cells', () => {
  describe('in the jail', () => {
    let rows: Rows;
    beforeAll(async () => void (rows = await runCorpus({}, NAMES)), RUN_MS);

    it.each(WASM_ATTACKS)('stops $name', ({ name, control }) => {
      const row = rows.get(name);
      const shown = 'none' in control ? 'n/a' : 'works';
      expect(row, `${row?.evidence} ${row?.controlEvidence}`).toMatchObject({
        control: shown,
        stopped: true,
      });
      expect(row?.unexpected, row?.evidence).toBeUndefined();
    });

    it('prints a table that says so', () => {
      const table = formatTable([...rows.values()]);
      expect(table).toContain(`${NAMES.length} of ${NAMES.length} attacks stopped`);
      expect(table).not.toContain('NOT STOPPED');
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
