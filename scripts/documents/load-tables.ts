/**
 * The load on the service as Markdown tables.
 *
 * @module
 */
import type { LoadReport } from '../../bench/load/run-load.ts';
import { verdictsOf } from '../../bench/load/table.ts';
import { duration } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

/** Latency of each skill as its callers see it, queue included. */
export function formatLoadCalls({ settings, mixed, alone }: LoadReport): string {
  const { clients, seconds } = settings;
  const rows = mixed.map(({ name, calls, p50, p99 }) => [name, String(calls), duration(p50), duration(p99)]);
  const alones = alone.map(({ name, calls, p50, p99 }) => [
    `${name}, without other load`,
    String(calls),
    duration(p50),
    duration(p99),
  ]);
  return table([[`${clients} clients for ${seconds} s`, 'calls', 'median', 'p99'], ...alones, ...rows]);
}

export function formatLoadVerdicts(report: LoadReport): string {
  return table([
    ['target', 'measured', ''],
    ...verdictsOf(report).map(({ aim, figure, met }) => [aim, figure, met ? 'met' : 'missed']),
  ]);
}
