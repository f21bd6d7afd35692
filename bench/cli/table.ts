/**
 * A report on the command line as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../runner/table.ts';
import type { CliReport } from './run-cli-bench.ts';

export function formatCliReport({ machine, rows, targets, leftOut }: CliReport): string {
  const lines = rows.map(({ name, n, median, p95, min, cpuMs }) => [
    name,
    String(n),
    ...[median, p95, min, cpuMs].map((ms) => ms.toFixed(0)),
  ]);
  return [
    formatMachine(machine),
    `The packed package; milliseconds from the start of the process to its end\n${columns([
      ['', 'n', 'median', 'p95', 'min', 'CPU'],
      ...lines,
    ])}`,
    [...targets.map(formatTarget), ...leftOut.map((reason) => `Skipped: ${reason}.`)].join('\n'),
  ].join('\n\n');
}
