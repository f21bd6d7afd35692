/**
 * The attacks on jails, in containers of one make: none gets further.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import type { MakeName } from '../../src/cell/container/contract.ts';
import { createRuntime } from '../../src/index.ts';
import { seedImages } from '../cell/container-images/base-image.ts';

const RUN_MS = 600_000;

export interface ContainerAttacks {
  make: MakeName;
  names: readonly string[];
  dockerSocket?: string;
}

export function attackContainers(attacks: ContainerAttacks): void {
  describe(`in containers of ${attacks.make}`, () => {
    let rows: Map<string, AttackRow>;
    beforeAll(async () => void (rows = await run(attacks)), RUN_MS);

    it.each(attacks.names)('stops %s', (name) => {
      const row = rows.get(name);
      const evidence = `${row?.evidence} ${row?.controlEvidence}`;
      expect(row, evidence).toMatchObject({ control: 'works', stopped: true });
      expect(rows.get(name)?.unexpected).toBeUndefined();
    });
  });
}

async function run(attacks: ContainerAttacks): Promise<Map<string, AttackRow>> {
  const { make, names, dockerSocket } = attacks;
  const container = { makes: [make], ...(dockerSocket === undefined ? {} : { dockerSocket }) };
  const home = mkdtempSync(join(tmpdir(), 'skillcell-home-'));
  // Cells of a root host run as nobody in particular and have to reach the store.
  chmodSync(home, 0o755);
  try {
    await seedImages(home);
    await using runtime = createRuntime({ home, pool: { size: 0 }, container });
    const rows = await runAttacks({
      mode: 'container',
      names,
      lanes: 2,
      execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
    });
    return new Map(rows.map((row) => [row.name, row]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
