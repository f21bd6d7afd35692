/**
 * Entry point for `skillcell attack`.
 *
 * @module
 */
import { createRuntime, type AttackSuite } from '../src/for-attacks.ts';
import { ATTACK_POLICY } from './runner/policy.ts';
import { runAttacks, type Execute } from './runner/run-attacks.ts';
import { runNetworkAttacks } from './runner/run-network.ts';
import { formatTable, verdictOf } from './runner/table.ts';

export const suite: AttackSuite = {
  run: async ({ mode, names, onVerdict }) => {
    await using runtime = createRuntime({ caller: 'attack', audit: false, policy: ATTACK_POLICY });
    const execute: Execute = (dir, params, options) =>
      runtime.execute(dir, params, { ...options, reject: false });
    const shared = {
      ...(names === undefined ? {} : { names }),
      onRow: (row: Parameters<typeof verdictOf>[0] & { name: string }) => onVerdict(verdictOf(row), row.name),
    };
    const rows = await runAttacks({ ...shared, mode, execute });
    // Containers use the same gateway as the jail, which decides what may pass.
    if (mode === 'subprocess' || mode === 'wasm')
      rows.push(...(await runNetworkAttacks({ ...shared, mode })));
    rows.sort((a, b) => a.name.localeCompare(b.name));
    return { rows, table: formatTable(rows) };
  },
};
