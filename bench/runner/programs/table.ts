/**
 * A report on programs as text.
 *
 * @module
 */
import type { Row } from '../statistics.ts';
import { columns, formatMachine, formatTarget } from '../table.ts';
import { PROGRAM_PEER_NOTES } from './peers.ts';
import type { ProgramReport } from './run-program-bench.ts';
import { addedMs, CALLS, FRESH, HOST } from './targets.ts';

export function formatProgramReport({ machine, rows, targets }: ProgramReport): string {
  const lines = rows.map(({ name, n, median, p95, min }) => {
    const baseline = FRESH[name] ?? name.replace(/, [^,]*$/, `, ${HOST}`);
    const added = baseline === name ? NaN : addedMs(rows, name, baseline);
    const figures = [median, p95, min].map((ms) => ms.toFixed(3));
    return [
      name,
      String(n),
      ...figures,
      Number.isNaN(added) ? '' : `${added < 0 ? '' : '+'}${added.toFixed(3)}`,
    ];
  });
  return [
    formatMachine(machine),
    `${CALLS} calls in a row, or at once; milliseconds per call. Programs without calls: the whole\n${columns(
      [['', 'n', 'median', 'p95', 'min', 'added'], ...lines],
    )}`,
    formatNotes(rows),
    targets.map(formatTarget).join('\n'),
  ].join('\n\n');
}

function formatNotes(rows: readonly Row[]): string {
  const names = new Set(rows.map(({ name }) => name));
  return [
    'Tools of peers do nothing and have no receipts; their calls are counted in the program and in the tool.',
    ...Object.entries(PROGRAM_PEER_NOTES)
      .filter(([name]) => names.has(name))
      .map(([name, note]) => `${name}: ${note}.`),
  ].join('\n');
}
