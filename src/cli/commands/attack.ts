/**
 * `skillcell attack`
 *
 * @module
 */
import { ATTACK_POLICY } from '../../../attacks/runner/policy.ts';
import { runAttacks } from '../../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../../attacks/runner/table.ts';
import { createRuntime } from '../../index.ts';
import { printLine, printNote, printResult } from '../output.ts';

interface Flags {
  mode?: 'subprocess' | 'wasm';
  only?: string;
  json?: boolean;
}

export async function attack(flags: Flags): Promise<number> {
  await using runtime = createRuntime({ caller: 'attack', audit: false, policy: ATTACK_POLICY });
  const rows = await runAttacks({
    mode: flags.mode ?? 'subprocess',
    ...(flags.only === undefined ? {} : { names: flags.only.split(',') }),
    execute: (dir, params, options) => runtime.execute(dir, params, { ...options, reject: false }),
    onRow: (row) =>
      process.stderr.isTTY && printNote(`${row.stopped ? 'stopped' : 'NOT STOPPED'}  ${row.name}`),
  });
  if (flags.json) printResult(rows);
  else printLine(formatTable(rows));
  return rows.every((row) => row.stopped) ? 0 : 1;
}
