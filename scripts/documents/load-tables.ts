/**
 * The load on the service as tables of Markdown.
 *
 * @module
 */
import type { LoadReport } from '../../bench/load/run-load.ts';
import { verdictsOf } from '../../bench/load/table.ts';
import { duration } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

/** What callers of each skill waited for their answer, queue included. */
export function formatLoadCalls({ settings, mixed, alone }: LoadReport): string {
  const { clients, seconds } = settings;
  const rows = mixed.map(({ name, calls, p50, p99 }) => [name, String(calls), duration(p50), duration(p99)]);
  const alones = alone.map(({ name, calls, p50, p99 }) => [
    `${name}, alone`,
    String(calls),
    duration(p50),
    duration(p99),
  ]);
  return table([[`${clients} clients for ${seconds} s`, 'calls', 'median', 'p99'], ...alones, ...rows]);
}

export function formatLoadVerdicts(report: LoadReport): string {
  return table([
    ['aim', 'found', ''],
    ...verdictsOf(report).map(({ aim, figure, met }) => [aim, figure, met ? 'met' : 'missed']),
  ]);
}
