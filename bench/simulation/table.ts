/**
 * The simulation as text.
 *
 * @module
 */
import type { SimulationReport } from './run-simulation.ts';

export function formatSimulation({ rows, times }: SimulationReport): string {
  const lines = rows.map((row) =>
    [
      `${row.workers} × ${row.tenants}`.padEnd(14),
      row.design.padEnd(52),
      row.throughput.toFixed(0).padStart(8),
      row.quietP99.toFixed(0).padStart(9),
      row.aloneP99.toFixed(0).padStart(9),
      percent(row.quietRefused).padStart(8),
      percent(row.warmShare).padStart(6),
      row.fairness.toFixed(2).padStart(6),
      row.pulls.toFixed(0).padStart(9),
    ].join(' '),
  );
  return [
    `Service times measured on ${times.measured}: warm ${times.warm.median.toFixed(1)} ms, cold ${times.cold.median.toFixed(0)} ms (medians).`,
    '',
    `${'workers'.padEnd(14)} ${'design'.padEnd(52)}  calls/s quiet p99    alone  refused   warm   Jain   pulls/s`,
    ...lines,
  ].join('\n');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
