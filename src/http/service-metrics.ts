/**
 * What the service counts.
 *
 * @module
 */
import { packageVersion, type Blamed, type Outcome } from '../index.ts';
import { Counter, formatMetrics, Histogram, type Metric } from './metrics.ts';

/** Of this moment. */
export interface Gauges {
  running: number;
  waiting: number;
  faults?: Readonly<Record<Blamed, number>> | undefined;
}

export class ServiceMetrics {
  readonly #calls = new Counter();
  readonly #denials = new Counter();
  readonly #refused = new Counter();
  readonly #requests = new Counter();
  readonly #seconds = new Histogram();

  /** `skill` is an id of the registry: callers cannot invent labels. */
  called(skill: string, outcome: Outcome): void {
    this.#calls.add({ skill, code: outcome.ok ? 'ok' : outcome.error.code });
    this.#seconds.observe({ skill }, outcome.usage.wall_ms / 1000);
    for (const { capability } of outcome.capabilities.denied) this.#denials.add({ skill, capability });
  }

  refused(reason: 'busy' | 'closing' | 'token' | 'scope'): void {
    this.#refused.add({ reason });
  }

  requested(route: string, status: number): void {
    this.#requests.add({ route, status: String(status) });
  }

  format({ running, waiting, faults }: Gauges): string {
    return formatMetrics([
      gauge('skillcell_build_info', 'Which version this is.', [
        `skillcell_build_info{version="${packageVersion()}"} 1`,
      ]),
      counter('skillcell_calls_total', 'Calls that ended, by how they ended.', this.#calls),
      counter('skillcell_denials_total', 'Acts that were stopped.', this.#denials),
      {
        name: 'skillcell_call_seconds',
        help: 'Time of calls inside their cells.',
        type: 'histogram',
        lines: this.#seconds.lines('skillcell_call_seconds'),
      },
      gauge('skillcell_calls_running', 'Calls that run now.', [`skillcell_calls_running ${running}`]),
      gauge('skillcell_calls_waiting', 'Calls that wait for their turn.', [
        `skillcell_calls_waiting ${waiting}`,
      ]),
      counter('skillcell_refused_total', 'Requests that were turned away.', this.#refused),
      counter('skillcell_http_requests_total', 'Requests by route and status.', this.#requests),
      {
        name: 'skillcell_faults_total',
        help: 'Faults of the service itself, by who was ended because of them.',
        type: 'counter',
        lines: Object.entries(faults ?? {}).map(
          ([owner, count]) => `skillcell_faults_total{owner="${owner}"} ${count}`,
        ),
      },
      gauge('process_resident_memory_bytes', 'Memory of the service without its cells.', [
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      ]),
    ]);
  }
}

function counter(name: string, help: string, values: Counter): Metric {
  return { name, help, type: 'counter', lines: values.lines(name) };
}

function gauge(name: string, help: string, lines: string[]): Metric {
  return { name, help, type: 'gauge', lines };
}
