/**
 * Routes about the service itself.
 *
 * @module
 */
import { packageVersion } from '../../index.ts';
import { json } from '../answers.ts';
import { route, type Route } from '../route.ts';
import { health, identityAnswer, pairList, readiness } from '../answer-schemas.ts';
import { machineOf } from '../views.ts';

const alive: Route = route({
  method: 'get',
  path: '/healthz',
  tag: 'service',
  summary: 'Whether the service takes calls',
  scopes: 'open',
  answers: { 200: health, 503: health },
  handle: ({ service, c }) => {
    const status = service.isClosing ? 'closing' : 'ok';
    return json(c, { status, version: packageVersion() }, service.isClosing ? 503 : 200);
  },
});

const ready: Route = route({
  method: 'get',
  path: '/readyz',
  tag: 'service',
  summary: 'Whether a call that is made now would be taken: receipts can be written, and a wall works',
  description: 'What is wrong is named without any path. For whether the process is alive, ask /healthz.',
  scopes: 'open',
  answers: { 200: readiness, 503: readiness },
  handle: async ({ service, c }) => {
    const hindrances = await service.hindrances();
    const isReady = hindrances.length === 0;
    return json(c, { status: isReady ? 'ready' : 'not_ready', hindrances }, isReady ? 200 : 503);
  },
});

const metrics: Route = route({
  method: 'get',
  path: '/metrics',
  tag: 'service',
  summary: 'Counters and histograms in the text format of Prometheus',
  description: 'Figures of all tenants, without anything of their calls.',
  scopes: ['read'],
  answers: { 200: 'text/plain' },
  handle: ({ service, c }) => {
    c.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    return c.body(service.metrics.format({ ...service.dispatcher.load, faults: service.options.faults }));
  },
});

const me: Route = route({
  method: 'get',
  path: '/v1/me',
  tag: 'service',
  summary: 'Whom the token belongs to, and what it may do',
  scopes: ['call', 'read'],
  answers: { 200: identityAnswer },
  handle: ({ identity: { tenant, token, scopes }, c }) => json(c, { tenant, token, scopes: [...scopes] }),
});

const machine: Route = route({
  method: 'get',
  path: '/v1/machine',
  tag: 'service',
  summary: 'What this machine can run, and who enforces what',
  scopes: ['read'],
  answers: { 200: pairList },
  handle: async ({ service, c }) => json(c, machineOf(service, await service.machine())),
});

export const SERVICE_ROUTES: readonly Route[] = [alive, ready, metrics, me, machine];
