/**
 * Routes about calls: those that run, those that ended, and what is kept of them. A tenant sees its own.
 *
 * @module
 */
import { streamSSE } from 'hono/streaming';
import { SkillError } from '../../index.ts';
import type { Identity } from '../access.ts';
import { json } from '../answers.ts';
import { tellEvents } from '../events.ts';
import type { WatchedCall } from '../live-calls.ts';
import {
  findReceipt,
  listReceipts,
  shownReceipt,
  type FoundReceipts,
  type ReceiptFilter,
} from '../receipts.ts';
import { route, type Route } from '../route.ts';
import {
  callList,
  callState,
  liveCall,
  receiptList,
  stats,
  storedReceipt,
  verification,
} from '../answer-schemas.ts';
import { callQuery, receiptQuery, statsQuery } from '../request-schemas.ts';
import type { Service } from '../service.ts';
import { statsOf } from '../stats.ts';

const calls: Route = route({
  method: 'get',
  path: '/v1/calls',
  tag: 'calls',
  summary: 'Calls that run, and the newest that ended',
  scopes: ['read'],
  query: callQuery,
  answers: { 200: callList },
  handle: async ({ service, identity, query, c }) => {
    const past = query.limit === 0 ? [] : (await receiptsOf(service, identity, query)).receipts;
    const running = service.live.all.filter((call) => isTheirs(call, identity)).map(shown);
    return json(c, { running, past });
  },
});

const call: Route = route({
  method: 'get',
  path: '/v1/calls/{id}',
  tag: 'calls',
  summary: 'One call: running, or its receipt',
  scopes: ['read'],
  answers: { 200: callState },
  handle: ({ service, identity, param, c }) => {
    const running = findRunning(service, identity, param('id'));
    if (running) return json(c, { state: 'running', call: shown(running) });
    return json(c, { state: 'ended', receipt: receiptOf(service, identity, param('id')) });
  },
});

const events: Route = route({
  method: 'get',
  path: '/v1/calls/{id}/events',
  tag: 'calls',
  summary: 'What a running call has told and tells: started, log, denied, done',
  scopes: ['read'],
  answers: { 200: 'text/event-stream' },
  handle: ({ service, identity, param, c }) => {
    const running = findRunning(service, identity, param('id'));
    if (!running) throw notRunning(param('id'));
    return streamSSE(c, (stream) => tellEvents(stream, running));
  },
});

const cancel: Route = route({
  method: 'delete',
  path: '/v1/calls/{id}',
  tag: 'calls',
  summary: 'End a running call; its cell is killed',
  scopes: ['call'],
  answers: { 200: liveCall },
  handle: ({ service, identity, param, c }) => {
    const running = findRunning(service, identity, param('id'));
    if (!running) throw notRunning(param('id'));
    running.cancel();
    return json(c, shown(running));
  },
});

const receipts: Route = route({
  method: 'get',
  path: '/v1/receipts',
  tag: 'receipts',
  summary: 'Receipts of ended calls, newest first',
  scopes: ['read'],
  query: receiptQuery,
  answers: { 200: receiptList },
  handle: async ({ service, identity, query: { denied, ...filter }, c }) =>
    json(c, await receiptsOf(service, identity, { ...filter, deniedOnly: denied === 'true' })),
});

const verify: Route = route({
  method: 'get',
  path: '/v1/receipts/verify',
  tag: 'receipts',
  summary: 'Check the hash chain over all receipts',
  scopes: ['admin'],
  answers: { 200: verification },
  handle: async ({ service, c }) => json(c, await service.runtime.audit.elsewhere.verify()),
});

const receipt: Route = route({
  method: 'get',
  path: '/v1/receipts/{id}',
  tag: 'receipts',
  summary: 'The receipt of one call',
  scopes: ['read'],
  answers: { 200: storedReceipt },
  handle: ({ service, identity, param, c }) => json(c, receiptOf(service, identity, param('id'))),
});

const figures: Route = route({
  method: 'get',
  path: '/v1/stats',
  tag: 'calls',
  summary: 'Calls, latency and denials over time, from the receipts',
  scopes: ['read'],
  query: statsQuery,
  answers: { 200: stats },
  handle: async ({ service, identity, query, c }) =>
    json(c, await statsOf(service.runtime.audit, identity, query)),
});

function isTheirs({ facts }: WatchedCall, { tenant, scopes }: Identity): boolean {
  return scopes.has('admin') || facts.tenant === tenant;
}

function findRunning(service: Service, identity: Identity, id: string): WatchedCall | undefined {
  const found = service.live.find(id);
  return found && isTheirs(found, identity) ? found : undefined;
}

function shown({ id, facts, startedAt, state }: WatchedCall): Record<string, unknown> {
  const { skill, caller } = facts;
  return { call_id: id, skill, caller, started_at: startedAt.toISOString(), state };
}

async function receiptsOf(
  service: Service,
  identity: Identity,
  filter: ReceiptFilter,
): Promise<FoundReceipts> {
  const { receipts: found, ...rest } = await listReceipts(service.runtime.audit, identity, filter);
  return { receipts: found.map((one) => shownReceipt(one, identity, service.folders)), ...rest };
}

function receiptOf(service: Service, identity: Identity, id: string): object {
  const found = findReceipt(service.runtime.audit, identity, id);
  if (found) return shownReceipt(found, identity, service.folders);
  throw new SkillError('skill_unavailable', `There is no call ${JSON.stringify(id.slice(0, 40))}`, {
    fix: 'See GET /v1/calls for running calls and GET /v1/receipts for those that ended.',
  });
}

function notRunning(id: string): SkillError {
  return new SkillError('skill_unavailable', `No call ${JSON.stringify(id.slice(0, 40))} is running`, {
    fix: 'It may have ended: see GET /v1/receipts/{id}.',
  });
}

export const CALL_ROUTES: readonly Route[] = [
  calls,
  call,
  events,
  cancel,
  receipts,
  verify,
  receipt,
  figures,
];
