/**
 * A report on distribution as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../runner/table.ts';
import type { DistributionReport } from './run-distribution-bench.ts';

export function formatDistributionReport({ machine, rows, targets }: DistributionReport): string {
  const lines = rows.map(({ name, wall, own, cell }) => [
    name,
    String(wall.n),
    ...[wall.median, wall.min, own.median, own.min, cell.min].map((ms) => ms.toFixed(0)),
  ]);
  return [
    formatMachine(machine),
    `Each in a process of its own, without its start; milliseconds\n${columns([
      ['', 'n', 'wall', 'fastest', 'own CPU', 'fastest', 'CPU of the cell'],
      ...lines,
    ])}`,
    targets.map(formatTarget).join('\n'),
  ].join('\n\n');
}
