/**
 * Routes for running and past calls and their receipts. A tenant sees only its own.
 *
 * @module
 */
import { streamSSE } from 'hono/streaming';
import { SkillError } from '../../inside.ts';
import type { Identity } from '../access.ts';
import { json } from '../answers.ts';
import { writeEvents } from '../events.ts';
import type { WatchedCall } from '../live-calls.ts';
import { answerExport } from '../receipt-export.ts';
import {
  assertMaySee,
  filterOf,
  findReceipt,
  listReceipts,
  visibleReceipt,
  type VisibleReceipt,
} from '../receipts.ts';
import { routesOf, type Route } from '../route.ts';
import {
  callList,
  callState,
  liveCall,
  receiptList,
  stats,
  storedReceipt,
  verification,
} from '../answer-schemas.ts';
import {
  callQuery,
  exportQuery,
  receiptQuery,
  statsQuery,
  type FilterQuery,
  type ReceiptQuery,
} from '../request-schemas.ts';
import type { Service } from '../service.ts';
import { statsOf } from '../stats.ts';

const callRoute = routesOf('calls');
const receiptRoute = routesOf('receipts');

const calls: Route = callRoute('get /v1/calls', {
  summary: 'Running calls, and the most recent past ones',
  description: 'All filters apply to past calls; `skill`, `caller` and `tenant` also to running ones.',
  scopes: ['read'],
  query: callQuery,
  answers: { 200: callList },
  handle: async ({ service, identity, query, c }) => {
    assertMaySee(identity, query.tenant);
    const { receipts: past, ...more } =
      query.limit === 0 ? { receipts: [] } : await receiptsOf(service, identity, query);
    const theirs = service.live.all.filter((call) => isTheirs(call, identity));
    const running = theirs.filter((call) => isSelected(call, query)).map(callView);
    return json(c, { running, past, ...more });
  },
});

const call: Route = callRoute('get /v1/calls/{id}', {
  summary: 'One call: its state if it is running, otherwise its receipt',
  scopes: ['read'],
  answers: { 200: callState },
  handle: ({ service, identity, param, c }) => {
    const running = findRunning(service, identity, param('id'));
    if (running) return json(c, { state: 'running', call: callView(running) });
    return json(c, { state: 'ended', receipt: receiptOf(service, identity, param('id')) });
  },
});

const events: Route = callRoute('get /v1/calls/{id}/events', {
  summary: 'Follow the events of a running call from its start: started, log, denied, done',
  scopes: ['read'],
  answers: { 200: 'text/event-stream' },
  handle: ({ service, identity, param, c }) => {
    const running = theirCall(service, identity, param('id'));
    const leave = service.streams.enter(identity.tenant);
    return streamSSE(c, async (stream) => {
      // Frees the slot immediately: a call may send no event for a long time after its reader disconnected.
      stream.onAbort(leave);
      await writeEvents(stream, running).finally(leave);
    });
  },
});

const cancel: Route = callRoute('delete /v1/calls/{id}', {
  summary: 'Cancel a running call and kill its cell',
  scopes: ['call'],
  answers: { 200: liveCall },
  handle: ({ service, identity, param, c }) => {
    const running = theirCall(service, identity, param('id'));
    running.cancel();
    return json(c, callView(running));
  },
});

const receipts: Route = receiptRoute('get /v1/receipts', {
  summary: 'Receipts of past calls, newest first',
  scopes: ['read'],
  query: receiptQuery,
  answers: { 200: receiptList },
  handle: async ({ service, identity, query, c }) => json(c, await receiptsOf(service, identity, query)),
});

const exported: Route = receiptRoute('get /v1/receipts/export', {
  summary: 'Matching receipts as JSON lines or CSV, newest first',
  description:
    'At most 10000 per answer. If there may be more, the header `Link` has the address of the next ones (`rel="next"`).' +
    ' Parameters and results are not exported, even if they are kept. In CSV, a cell that a spreadsheet could take for a' +
    ' formula begins with an apostrophe.',
  scopes: ['read'],
  query: exportQuery,
  answers: { 200: ['application/x-ndjson', 'text/csv'] },
  handle: ({ service, identity, query, c }) => answerExport(c, service, { identity, query }),
});

const verify: Route = receiptRoute('get /v1/receipts/verify', {
  summary: 'Verify the hash chain of all receipts',
  scopes: ['admin'],
  answers: { 200: verification },
  handle: async ({ service, c }) => json(c, await service.runtime.audit.elsewhere.verify()),
});

const receipt: Route = receiptRoute('get /v1/receipts/{id}', {
  summary: 'The receipt of one call',
  scopes: ['read'],
  answers: { 200: storedReceipt },
  handle: ({ service, identity, param, c }) => json(c, receiptOf(service, identity, param('id'))),
});

const statistics: Route = callRoute('get /v1/stats', {
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

function isSelected({ facts }: WatchedCall, { skill, caller, tenant }: FilterQuery): boolean {
  return (
    (skill === undefined || facts.skill === skill) &&
    (caller === undefined || facts.caller === caller) &&
    (tenant === undefined || facts.tenant === tenant)
  );
}

function findRunning(service: Service, identity: Identity, id: string): WatchedCall | undefined {
  const found = service.live.find(id);
  return found && isTheirs(found, identity) ? found : undefined;
}

function theirCall(service: Service, identity: Identity, id: string): WatchedCall {
  const running = findRunning(service, identity, id);
  if (!running) throw notRunning(id);
  return running;
}

function callView({ id, facts, startedAt, state }: WatchedCall): Record<string, unknown> {
  const { skill, caller } = facts;
  return { call_id: id, skill, caller, started_at: startedAt.toISOString(), state };
}

async function receiptsOf(
  service: Service,
  identity: Identity,
  { limit, ...query }: ReceiptQuery,
): Promise<{ receipts: VisibleReceipt[]; older?: string }> {
  const filter = { ...filterOf(query), limit };
  const { receipts: found, older } = await listReceipts(service.runtime.audit, identity, filter);
  const visible = found.map((one) => visibleReceipt(one, identity, service.folders));
  return { receipts: visible, ...(older && { older: older.receipt.call_id }) };
}

function receiptOf(service: Service, identity: Identity, id: string): object {
  const found = findReceipt(service.runtime.audit, identity, id);
  if (found) return visibleReceipt(found, identity, service.folders);
  throw new SkillError('skill_unavailable', `Unknown call ${JSON.stringify(id.slice(0, 40))}`, {
    fix: 'See GET /v1/calls for running calls and GET /v1/receipts for past ones.',
  });
}

function notRunning(id: string): SkillError {
  return new SkillError('skill_unavailable', `The call ${JSON.stringify(id.slice(0, 40))} is not running`, {
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
  exported,
  receipt,
  statistics,
];
