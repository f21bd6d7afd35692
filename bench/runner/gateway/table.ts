/**
 * A report on the gateway as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../table.ts';
import type { GatewayReport } from './run-gateway-bench.ts';
import { addedMs } from './targets.ts';

export function formatGatewayReport({ machine, rows, load, targets }: GatewayReport): string {
  const lines = rows.map(({ name, n, median, p95, min }) => {
    const added = addedMs(rows, name);
    const figures = [median, p95, min].map((ms) => ms.toFixed(3));
    return [name, String(n), ...figures, Number.isNaN(added) ? '' : `+${added.toFixed(3)}`];
  });
  return [
    formatMachine(machine),
    `One request after the other from warm cells, to a server on loopback; milliseconds\n${columns([
      ['', 'n', 'median', 'p95', 'min', 'added'],
      ...lines,
    ])}`,
    `${load.workers} threads of one native cell at full load: ${load.requestsPerSecond.toFixed(0)} requests/s through one ` +
      `gateway, ${load.served} served, ${load.failed} failed`,
    targets.map(formatTarget).join('\n'),
  ].join('\n\n');
}
