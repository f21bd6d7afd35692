/**
 * `skillcell attack`
 *
 * @module
 */
import { ATTACK_POLICY } from '../../../attacks/runner/policy.ts';
import { runAttacks, type AttackMode } from '../../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../../attacks/runner/table.ts';
import { createRuntime } from '../../index.ts';
import { printLine, printNote, printResult } from '../output.ts';

interface Flags {
  mode?: AttackMode;
  only?: string;
  json?: boolean;
}

export async function attack(flags: Flags): Promise<number> {
  await using runtime = createRuntime({ caller: 'attack', audit: false, policy: ATTACK_POLICY });
  const shared = {
    mode: flags.mode ?? 'subprocess',
    ...(flags.only === undefined ? {} : { names: flags.only.split(',') }),
    onRow,
  };
  const execute: Execute = (dir, params, options) =>
    runtime.execute(dir, params, { ...options, reject: false });
  const rows = [
    ...(await runAttacks({ ...shared, execute })),
    ...(await runNetworkAttacks({ ...shared, runtime: { caller: 'attack' } })),
  ].sort((a, b) => a.name.localeCompare(b.name));
  if (flags.json) printResult(rows);
  else printLine(formatTable(rows));
  return rows.every((row) => row.stopped) ? 0 : 1;
}
