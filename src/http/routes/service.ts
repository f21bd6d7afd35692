/**
 * Routes about the service itself.
 *
 * @module
 */
import { packageVersion } from '../../inside.ts';
import { json } from '../answers.ts';
import { routesOf, type Route } from '../route.ts';
import { health, identityAnswer, pairList, readiness } from '../answer-schemas.ts';
import type { Service } from '../service.ts';
import type { Gauges } from '../service-metrics.ts';
import { machineOf } from '../views.ts';

const route = routesOf('service');

const alive: Route = route('get /healthz', {
  summary: 'Report whether the service accepts calls',
  scopes: 'open',
  answers: { 200: health, 503: health },
  handle: ({ service, c }) => {
    const status = service.isClosing ? 'closing' : 'ok';
    return json(c, { status, version: packageVersion() }, service.isClosing ? 503 : 200);
  },
});

const ready: Route = route('get /readyz', {
  summary: 'Report whether the service is ready: tokens can be checked, receipts written, and a wall works',
  description: 'The reasons contain no paths. Use /healthz to check that the process is alive.',
  scopes: 'open',
  answers: { 200: readiness, 503: readiness },
  handle: async ({ service, c }) => {
    const hindrances = await service.hindrances();
    const isReady = hindrances.length === 0;
    const status = isReady ? 'ready' : 'not_ready';
    return json(c, { status, hindrances, policy: service.policy() }, isReady ? 200 : 503);
  },
});

const metrics: Route = route('get /metrics', {
  summary: 'Metrics in the Prometheus text format',
  description:
    'Totals over all tenants, and what each tenant used of its quota; nothing about the content of calls. A token of a' +
    ' tenant of the file of tenants gets only the metrics of its own calls.',
  scopes: ['metrics'],
  answers: { 200: 'text/plain' },
  handle: async ({ service, identity, c }) => {
    c.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    const own = service.tenancy.metricsTenant(identity);
    if (!own) return c.body(service.metrics.format(await gaugesOf(service)));
    const quotas = service.quotas.use.filter(({ tenant }) => tenant === identity.tenant);
    return c.body(service.tenancy.metricsOf(own).formatOwn(quotas));
  },
});

async function gaugesOf(service: Service): Promise<Gauges> {
  const { faults, elsewhere } = service.options;
  const pools = await elsewhere?.queues();
  return { ...service.dispatcher.load, faults, policy: service.policy(), quotas: service.quotas.use, pools };
}

const me: Route = route('get /v1/me', {
  summary: 'Tenant and scopes of the token',
  scopes: ['call', 'read'],
  answers: { 200: identityAnswer },
  handle: ({ identity: { tenant, token, scopes }, c }) => json(c, { tenant, token, scopes: [...scopes] }),
});

const machine: Route = route('get /v1/machine', {
  summary: 'Modes this machine supports, and what enforces each field',
  scopes: ['read'],
  answers: { 200: pairList },
  handle: async ({ service, c }) => json(c, machineOf(service, await service.machine())),
});

export const SERVICE_ROUTES: readonly Route[] = [alive, ready, metrics, me, machine];
