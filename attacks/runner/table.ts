/**
 * The result of a run for people.
 *
 * @module
 */
import type { AttackRow } from './attack-row.ts';

export function formatTable(rows: readonly AttackRow[]): string {
  const width = Math.max(6, ...rows.map(({ name }) => name.length));
  const codeWidth = Math.max(6, ...rows.map(({ code }) => code.length));
  const line = (cells: [string, string, string, string, string]): string =>
    `${cells[0].padEnd(width)}  ${cells[1].padEnd(12)}  ${cells[2].padEnd(11)}  ${cells[3].padEnd(codeWidth)}  ${cells[4]}`;
  return [
    line(['attack', 'control', 'jailed', 'answer', 'what it tries']),
    ...rows.map((row) => line([row.name, row.control, verdictOf(row), row.code, remarkOf(row)])),
    summary(rows),
  ].join('\n');
}

function verdictOf(row: AttackRow): string {
  return row.stopped ? 'stopped' : 'NOT STOPPED';
}

function remarkOf(row: AttackRow): string {
  if (!row.stopped) return `${row.description} (${row.evidence})`;
  return row.unexpected ? `${row.description} (${row.unexpected})` : row.description;
}

function summary(rows: readonly AttackRow[]): string {
  const stopped = rows.filter((row) => row.stopped).length;
  const proven = rows.filter((row) => row.control === 'works').length;
  const without = rows.filter((row) => row.control === 'n/a').length;
  const rest = without > 0 ? `, ${without} without a control ("n/a": nothing to show outside of a cell)` : '';
  return `${stopped} of ${rows.length} attacks stopped; ${proven} of them shown to work without the wall${rest}.`;
}
