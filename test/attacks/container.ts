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
import type { PoolOptions } from '../../src/cell/pool.ts';
import { createRuntime } from '../../src/index.ts';
import { seedImages } from '../cell/container-images/base-image.ts';

const RUN_MS = 240_000;

export interface ContainerAttacks {
  make: MakeName;
  names: readonly string[];
  pool?: PoolOptions;
  lanes?: number;
}

export function attackContainers({ make, names, pool = { size: 0 }, lanes = 2 }: ContainerAttacks): void {
  describe(`in containers of ${make}`, () => {
    let rows: Map<string, AttackRow>;
    beforeAll(async () => void (rows = await run({ make, names, pool, lanes })), RUN_MS);

    it.each(names)('stops %s', (name) => {
      expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ stopped: true });
      expect(rows.get(name)?.unexpected).toBeUndefined();
    });
  });
}

async function run({
  make,
  names,
  pool,
  lanes,
}: Required<ContainerAttacks>): Promise<Map<string, AttackRow>> {
  const home = mkdtempSync(join(tmpdir(), 'skillcell-home-'));
  // Cells of a root host run as nobody in particular and have to reach the store.
  chmodSync(home, 0o755);
  try {
    await seedImages(home);
    await using runtime = createRuntime({ home, pool, container: { makes: [make] } });
    const rows = await runAttacks({
      mode: 'container',
      names,
      lanes,
      execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
    });
    return new Map(rows.map((row) => [row.name, row]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
