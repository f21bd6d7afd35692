/**
 * Metrics of the service.
 *
 * @module
 */
import { type FaultScope, type Outcome, packageVersion } from '../inside.ts';
import type { PoolLoad } from './elsewhere.ts';
import type { QuotaUse } from './quotas.ts';
import type { PolicyView } from './service.ts';
import { Counter, formatMetrics, Histogram, type Metric } from './metrics.ts';

/** Capability label of denials that did not fit into the list of a call. */
const UNLISTED = 'unlisted';

/** Current values. */
export interface Gauges {
  running: number;
  waiting: number;
  faults?: Readonly<Record<FaultScope, number>> | undefined;
  policy: PolicyView;
  quotas: readonly QuotaUse[];
  /** Absent without a cluster, or when its queues are unknown. */
  pools?: readonly PoolLoad[] | undefined;
}

export class ServiceMetrics {
  readonly #calls = new Counter();
  readonly #denials = new Counter();
  readonly #refused = new Counter();
  readonly #requests = new Counter();
  readonly #seconds = new Histogram();
  readonly #tenants = new Counter();

  /** `skill` is an id from the registry, and `tenant` one of the operator's file, so callers cannot invent labels. */
  recordCall(skill: string, outcome: Outcome, tenant?: string): void {
    const code = outcome.ok ? 'ok' : outcome.error.code;
    this.#calls.add({ skill, code });
    if (tenant !== undefined) this.#tenants.add({ tenant, code });
    // A call that was refused before it ran took no time, and would only hide how long the others took.
    if (outcome.usage.wall_ms > 0) this.#seconds.observe({ skill }, outcome.usage.wall_ms / 1000);
    const { denied, cut } = outcome.capabilities;
    for (const { capability } of denied) this.#denials.add({ skill, capability });
    // The list is bounded; only the number of the rest is known.
    if (cut && cut.denied > 0) this.#denials.add({ skill, capability: UNLISTED }, cut.denied);
  }

  recordRefusal(reason: 'busy' | 'quota' | 'closing' | 'token' | 'scope'): void {
    this.#refused.add({ reason });
  }

  recordRequest(route: string, status: number): void {
    this.#requests.add({ route, status: String(status) });
  }

  /** What a tenant may see: its own calls and quota, and nothing of the service. */
  formatOwn(quotas: readonly QuotaUse[]): string {
    return formatMetrics([...this.#callMetrics(), ...quotaGauges(quotas)]);
  }

  #callMetrics(): Metric[] {
    return [
      counter('skillcell_calls_total', 'Ended calls by code.', this.#calls),
      counter('skillcell_denials_total', 'Denied acts by capability.', this.#denials),
      {
        name: 'skillcell_call_seconds',
        help: 'Wall time of calls that ran.',
        type: 'histogram',
        lines: this.#seconds.lines('skillcell_call_seconds'),
      },
    ];
  }

  format({ running, waiting, faults, policy, quotas, pools }: Gauges): string {
    return formatMetrics([
      gauge('skillcell_build_info', 'Version of Skillcell.', [
        `skillcell_build_info{version="${packageVersion()}"} 1`,
      ]),
      gauge('skillcell_policy_info', 'Policy in force, and how it relates to its files.', [
        `skillcell_policy_info{digest="${policy.digest}",state="${policy.state}"} 1`,
      ]),
      ...this.#callMetrics(),
      counter('skillcell_tenant_calls_total', 'Ended calls by tenant and code.', this.#tenants),
      gauge('skillcell_calls_running', 'Running calls.', [`skillcell_calls_running ${running}`]),
      gauge('skillcell_calls_waiting', 'Calls in the queue.', [`skillcell_calls_waiting ${waiting}`]),
      ...(pools ? poolGauges(pools) : []),
      ...quotaGauges(quotas),
      counter('skillcell_refused_total', 'Refused requests by reason.', this.#refused),
      counter('skillcell_http_requests_total', 'Requests by route and status.', this.#requests),
      {
        name: 'skillcell_faults_total',
        help: 'Uncaught faults of the service, by what was ended because of them.',
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

/** The name of a pool has no character that a label must escape. */
function poolGauges(pools: readonly PoolLoad[]): Metric[] {
  const lines = (name: string, value: (load: PoolLoad) => number): string[] =>
    pools.map((load) => `${name}{pool="${load.pool}"} ${value(load)}`);
  const [waiting, running] = ['skillcell_cluster_calls_waiting', 'skillcell_cluster_calls_running'] as const;
  return [
    gauge(
      waiting,
      'Calls in the queues of a pool, of all front ends.',
      lines(waiting, (load) => load.waiting),
    ),
    gauge(
      running,
      'Calls that the workers of a pool run.',
      lines(running, (load) => load.running),
    ),
  ];
}

function quotaGauges(quotas: readonly QuotaUse[]): Metric[] {
  return [
    quotaGauge('skillcell_quota_used', 'Used in the current period: calls, CPU in ms, output in bytes.', {
      quotas,
      value: ({ used }) => used,
    }),
    quotaGauge('skillcell_quota_limit', 'Quota per period: calls, CPU in ms, output in bytes.', {
      quotas,
      value: ({ limit }) => limit,
    }),
  ];
}

interface QuotaValues {
  quotas: readonly QuotaUse[];
  value: (use: QuotaUse) => number;
}

function quotaGauge(name: string, help: string, { quotas, value }: QuotaValues): Metric {
  const lines = quotas.map(
    (use) => `${name}{tenant="${use.tenant}",resource="${use.resource}"} ${value(use)}`,
  );
  return gauge(name, help, lines);
}

function gauge(name: string, help: string, lines: string[]): Metric {
  return { name, help, type: 'gauge', lines };
}
