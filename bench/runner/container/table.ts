/**
 * A report on containers as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../table.ts';
import type { ContainerReport } from './run-container-bench.ts';

export function formatContainerReport({ machine, rows, peers, targets, leftOut }: ContainerReport): string {
  const bases = rows.filter(({ name }) => peers.includes(name));
  const lines = rows.map(({ name, n, median, p95, min }) => [
    name,
    String(n),
    ...[median, p95, min].map((ms) => ms.toFixed(2)),
    ...bases.map((base) => `${(median / base.median).toFixed(2)}x`),
  ]);
  const head = ['', 'n', 'median', 'p95', 'min', ...bases.map(({ name }) => `to ${name}`)];
  return [
    formatMachine(machine),
    '',
    columns([head, ...lines]),
    '',
    ...targets.map(formatTarget),
    ...leftOut.map((reason) => `Skipped: ${reason}`),
  ].join('\n');
}
