/**
 * `skillcell attack`
 *
 * @module
 */
import type { AttackTarget } from '../../vocabulary/command-choices.ts';
import { loadAttacks } from '../attack-suite.ts';
import { printLine, printNote, printResult } from '../output.ts';

interface Flags {
  mode?: AttackTarget;
  only?: string;
  json?: boolean;
}

export async function attack({ mode = 'subprocess', only, json }: Flags): Promise<number> {
  const suite = await loadAttacks();
  const { rows, table } = await suite.run({ mode, names: only?.split(','), onVerdict: note });
  if (json) printResult(rows);
  else printLine(table);
  return rows.every((row) => row.stopped) ? 0 : 1;
}

function note(verdict: string, name: string): void {
  if (process.stderr.isTTY) printNote(`${verdict}  ${name}`);
}
