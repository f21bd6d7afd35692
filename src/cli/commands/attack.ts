/**
 * `skillcell attack`
 *
 * @module
 */
import { runAttacks } from '../../../attacks/runner/run-attacks.ts';
import { formatTable } from '../../../attacks/runner/table.ts';
import { createRuntime } from '../../index.ts';
import { printLine, printNote, printResult } from '../output.ts';

export async function attack(flags: { only?: string; json?: boolean }): Promise<number> {
  await using runtime = createRuntime({ caller: 'attack', audit: false });
  const rows = await runAttacks({
    mode: 'subprocess',
    ...(flags.only === undefined ? {} : { names: flags.only.split(',') }),
    execute: (dir, params, options) => runtime.execute(dir, params, { ...options, reject: false }),
    onRow: (row) =>
      process.stderr.isTTY && printNote(`${row.stopped ? 'stopped' : 'NOT STOPPED'}  ${row.name}`),
  });
  if (flags.json) printResult(rows);
  else printLine(formatTable(rows));
  return rows.every((row) => row.stopped) ? 0 : 1;
}
