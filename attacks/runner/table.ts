/**
 * The results of a run as a table.
 *
 * @module
 */
import { CORPORA, type AttackRow } from './attack-row.ts';

export function formatTable(rows: readonly AttackRow[]): string {
  const width = Math.max(6, ...rows.map(({ name }) => name.length));
  const codeWidth = Math.max(6, ...rows.map(({ code }) => code.length));
  const line = (cells: [string, string, string, string, string]): string =>
    `${cells[0].padEnd(width)}  ${cells[1].padEnd(12)}  ${cells[2].padEnd(11)}  ${cells[3].padEnd(codeWidth)}  ${cells[4]}`;
  return [
    line(['attack', 'control', 'jailed', 'answer', 'what it tries']),
    ...rows.map((row) => line([row.name, row.control, verdictOf(row), row.code, remarkOf(row)])),
    ...summaries(rows),
  ].join('\n');
}

export function verdictOf(row: Pick<AttackRow, 'ran' | 'stopped'>): string {
  if (row.stopped) return 'stopped';
  return row.ran ? 'NOT STOPPED' : 'DID NOT RUN';
}

function remarkOf(row: AttackRow): string {
  if (!row.stopped) return `${row.description} (${row.evidence})`;
  return row.unexpected ? `${row.description} (${row.unexpected})` : row.description;
}

/** One line for each corpus that was run. */
function summaries(rows: readonly AttackRow[]): string[] {
  return CORPORA.map((corpus) => [corpus, rows.filter((row) => row.corpus === corpus)] as const)
    .filter(([, own]) => own.length > 0)
    .map(([corpus, own]) => `${corpus}: ${summary(own)}`);
}

function summary(rows: readonly AttackRow[]): string {
  const stopped = rows.filter((row) => row.stopped).length;
  const idle = rows.filter((row) => !row.ran).length;
  const without = rows.filter((row) => row.control === 'n/a').length;
  return [
    `${stopped} of ${rows.length} attacks stopped`,
    ...(idle > 0 ? [`${idle} did not run`] : []),
    `${countControls(rows)} have a working control`,
    ...(without > 0 ? [`${without} have none ("n/a": nothing to show outside a cell)`] : []),
  ].join('; ');
}

/** Attacks that were shown to work without a wall. */
function countControls(rows: readonly AttackRow[]): number {
  return rows.filter((row) => row.control === 'works').length;
}
