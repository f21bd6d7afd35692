/**
 * Routes for skills: list, inspect, call, approve and revoke.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { streamSSE } from 'hono/streaming';
import { type Approvals, type Skill, SkillError, type Tenant, pinLines } from '../../inside.ts';
import { answerOutcome, json } from '../answers.ts';
import { writeEvents } from '../events.ts';
import { routesOf, type Route } from '../route.ts';
import { approvalAnswer, failure, revocation, skillList, skillPage, success } from '../answer-schemas.ts';
import type { Identity } from '../access.ts';
import { assertMaySee } from '../receipts.ts';
import { approvalBody, executeBody, tenantQuery, type TenantQuery } from '../request-schemas.ts';
import type { Service } from '../service.ts';
import { traceOf } from '../trace.ts';
import type { SkillSummary } from '../../web/types.ts';
import { UPLOAD_ROUTES } from './uploads.ts';
import { pageOf, summaryOf, viewerOf, type Viewer } from '../views.ts';

const skillRoute = routesOf('skills');
const trustRoute = routesOf('trust');

const list: Route = skillRoute('get /v1/skills', {
  summary: 'All skills with their capabilities, origin and trust status',
  scopes: ['call', 'read'],
  query: tenantQuery,
  answers: { 200: skillList },
  handle: async ({ service, identity, query, c }) => {
    const viewer = viewerFor(service, identity, query);
    const skills: SkillSummary[] = [];
    // Sequentially, yielding to the event loop in between, so that running calls are not delayed.
    for (const location of viewer.shelf.list()) {
      skills.push(await summaryOf(viewer, location));
      await setImmediate();
    }
    return json(c, { skills });
  },
});

const execute: Route = skillRoute('post /v1/skills/{name}/execute', {
  summary: 'Call a skill once in a fresh sandbox',
  description:
    'Returns the outcome. With `Accept: text/event-stream` it returns events instead: `accepted` with the id of the' +
    ' call, `started`, `log` as the skill prints (for a command with `stream`: `stdout` or `stderr`), `denied`, and `done` with the outcome. Closing the connection cancels the call.',
  scopes: ['call'],
  body: executeBody,
  answers: { 200: success, 409: failure, 422: failure, 499: failure, 504: failure },
  handle: async ({ service, identity, body, param, c }) => {
    const request = {
      ...body,
      name: param('name'),
      params: body.params ?? {},
      trace: traceOf(c),
      idempotencyKey: c.req.header('idempotency-key'),
    };
    const { call, outcome } = await service.start(request, identity, c.req.raw.signal);
    if (!c.req.header('accept')?.includes('text/event-stream')) return answerOutcome(c, await outcome);
    outcome.catch(() => undefined);
    return streamSSE(c, (stream) => writeEvents(stream, call));
  },
});

const inspect: Route = skillRoute('get /v1/skills/{name}', {
  summary: 'One skill: what it declares, what a call would be granted, and what enforces the grant',
  scopes: ['call', 'read'],
  query: tenantQuery,
  answers: { 200: skillPage },
  handle: async ({ service, identity, query, param, c }) => {
    const viewer = viewerFor(service, identity, query);
    return json(c, await pageOf(viewer, viewer.shelf.locate(param('name'))));
  },
});

const approve: Route = trustRoute('put /v1/skills/{name}/approval', {
  summary: 'Approve a skill in exactly its current state',
  description:
    'With `tenant`, the approval counts only for that tenant; without, only for calls of no tenant.',
  scopes: ['admin'],
  query: tenantQuery,
  body: approvalBody,
  answers: { 200: approvalAnswer },
  handle: async ({ service, identity, query, body, param, c }) => {
    const tenant = tenantFor(service, identity, query);
    const shelf = service.tenancy.shelfOf(tenant);
    const { bundle } = await shelf.load(shelf.locate(param('name')));
    if (bundle.digest !== body.digest || pinLines(bundle).join('\n') !== body.pins.join('\n'))
      throw changedSince(bundle);
    const { skill, digest, by, at } = approvalsOf(service, tenant).add(bundle, identity.caller);
    return json(c, { skill, digest, by, at });
  },
});

const revoke: Route = trustRoute('delete /v1/skills/{name}/approval', {
  summary: 'Revoke all approvals of a skill',
  scopes: ['admin'],
  query: tenantQuery,
  answers: { 200: revocation },
  handle: async ({ service, identity, query, param, c }) => {
    const tenant = tenantFor(service, identity, query);
    const shelf = service.tenancy.shelfOf(tenant);
    const { bundle } = await shelf.load(shelf.locate(param('name')));
    return json(c, { removed: approvalsOf(service, tenant).remove(bundle.manifest.name) });
  },
});

/** The tenant of the request, or the one that an admin names. */
function tenantFor({ tenancy }: Service, identity: Identity, { tenant }: TenantQuery): Tenant | undefined {
  assertMaySee(identity, tenant);
  const isOther = tenant !== undefined && tenant !== identity.tenant;
  return isOther ? tenancy.named(tenant) : tenancy.of(identity);
}

function viewerFor(service: Service, identity: Identity, query: TenantQuery): Viewer {
  return viewerOf(service, tenantFor(service, identity, query), identity.scopes.has('admin'));
}

function approvalsOf({ runtime }: Service, tenant: Tenant | undefined): Approvals {
  return tenant ? runtime.approvalsOf(tenant.context) : runtime.approvals;
}

function changedSince(bundle: Skill['bundle']): SkillError {
  return new SkillError(
    'manifest_drift',
    'The skill has changed since you reviewed it; nothing was approved',
    {
      fix: 'Review it again, and approve its current digest and pins.',
      detail: { digest: bundle.digest, pins: pinLines(bundle) },
    },
  );
}

export const SKILL_ROUTES: readonly Route[] = [list, execute, approve, revoke, inspect, ...UPLOAD_ROUTES];
