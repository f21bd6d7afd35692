/**
 * `skillcell attack`
 *
 * @module
 */
import { ATTACK_POLICY } from '../../../attacks/runner/policy.ts';
import { runNetworkAttacks } from '../../../attacks/runner/run-network.ts';
import {
  runAttacks,
  type AttackMode,
  type AttackRow,
  type Execute,
} from '../../../attacks/runner/run-attacks.ts';
import { formatTable, verdictOf } from '../../../attacks/runner/table.ts';
import { createRuntime } from '../../index.ts';
import { printLine, printNote, printResult } from '../output.ts';

interface Flags {
  mode?: AttackMode;
  only?: string;
  json?: boolean;
}

export async function attack(flags: Flags): Promise<number> {
  await using runtime = createRuntime({ caller: 'attack', audit: false, policy: ATTACK_POLICY });
  const { mode = 'subprocess', only } = flags;
  const shared = { ...(only === undefined ? {} : { names: only.split(',') }), onRow };
  const execute: Execute = (dir, params, options) =>
    runtime.execute(dir, params, { ...options, reject: false });
  const rows = await runAttacks({ ...shared, mode, execute });
  // A container has the gateway of the jail; what may pass is not its affair.
  if (mode === 'subprocess' || mode === 'wasm') rows.push(...(await runNetworkAttacks({ ...shared, mode })));
  rows.sort((a, b) => a.name.localeCompare(b.name));
  if (flags.json) printResult(rows);
  else printLine(formatTable(rows));
  return rows.every((row) => row.stopped) ? 0 : 1;
}

function onRow(row: AttackRow): void {
  if (process.stderr.isTTY) printNote(`${verdictOf(row)}  ${row.name}`);
}
