/**
 * The simulation of large fleets as Markdown.
 *
 * @module
 */
import type { SimulationReport } from '../../bench/simulation/run-simulation.ts';
import { percent } from '../../bench/simulation/table.ts';
import { duration } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

const NUMBERS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatSimulationRows({ rows }: SimulationReport): string {
  return table([
    [
      'workers, tenants',
      'design',
      'calls/s',
      'p99 of quiet tenants',
      'without floods',
      'their refused calls',
      'warm calls',
      'fairness',
      'idle requests/s',
    ],
    ...rows.map((row) => [
      `${NUMBERS.format(row.workers)}, ${NUMBERS.format(row.tenants)}`,
      row.design,
      NUMBERS.format(row.throughput),
      duration(row.quietP99),
      duration(row.aloneP99),
      percent(row.quietRefused),
      percent(row.warmShare),
      row.fairness.toFixed(2),
      NUMBERS.format(row.pulls),
    ]),
  ]);
}

export function formatSimulationAssumptions({ times, assumed }: SimulationReport): string {
  const { warm, cold, measured } = times;
  const spread = (one: typeof warm): string =>
    `${duration(one.median)} (95th percentile ${duration(one.p95)}, at least ${duration(one.min)})`;
  return [
    `- Measured: a call of \`prompt_rewriter\` in Wasm takes ${spread(warm)} where its skill is warm and ${spread(cold)} where it is not, from the report of ${measured} in \`bench/results/\`. Times between are drawn from a lognormal distribution above the minimum.`,
    `- Assumed: a call also waits ${assumed.outsideMs} ms for something outside (mean, exponential), and ${assumed.handOverMs} ms for the servers, the aim for the added latency. A worker has ${assumed.slots} places, ${assumed.warmPlaces} skills stay warm on it, and each tenant has one skill of its own.`,
    `- Load: quiet tenants together send ${percent(assumed.quiet)} of what the workers could do with warm skills only, and ${percent(assumed.floodShare)} of the tenants flood with another ${percent(assumed.flood)}. Arrivals are random (Poisson). ${assumed.warmUpMs / 1000} s of warm-up, ${assumed.measuredMs / 1000} s measured; a call that has not ended by then counts with its age.`,
    `- Bounds: those of \`cluster setup\`: 1,000 calls of a tenant, ${NUMBERS.format(assumed.queueOfAll)} of all, ${assumed.concurrent} running calls of a tenant with a queue of its own.`,
    `- Fairness is Jain's index of what each tenant got of its max-min fair share. Idle requests are those that workers park at the servers, renewed every ${assumed.parkedMs / 1000} s, calculated from the numbers of workers and queues.`,
    `- Left out: lost workers, calls that busy workers give back, the limits of the servers and of the network, and that workers take turns independently.`,
  ].join('\n');
}
