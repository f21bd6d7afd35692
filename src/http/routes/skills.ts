/**
 * Routes for skills: list, inspect, call, approve and revoke.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { streamSSE } from 'hono/streaming';
import { type Skill, SkillError, pinLines } from '../../inside.ts';
import { answerOutcome, json } from '../answers.ts';
import { writeEvents } from '../events.ts';
import { route, type Route } from '../route.ts';
import { approvalAnswer, failure, revocation, skillList, skillPage, success } from '../answer-schemas.ts';
import { approvalBody, executeBody } from '../request-schemas.ts';
import { traceOf } from '../trace.ts';
import type { SkillSummary } from '../../web/types.ts';
import { pageOf, summaryOf } from '../views.ts';

const list: Route = route({
  method: 'get',
  path: '/v1/skills',
  tag: 'skills',
  summary: 'All skills with their capabilities, origin and trust status',
  scopes: ['call', 'read'],
  answers: { 200: skillList },
  handle: async ({ service, c }) => {
    const skills: SkillSummary[] = [];
    // Sequentially, yielding to the event loop in between, so that running calls are not delayed.
    for (const location of service.shelf.list()) {
      skills.push(await summaryOf(service, location));
      await setImmediate();
    }
    return json(c, { skills });
  },
});

const execute: Route = route({
  method: 'post',
  path: '/v1/skills/{name}/execute',
  tag: 'skills',
  summary: 'Call a skill once in a fresh sandbox',
  description:
    'Returns the outcome. With `Accept: text/event-stream` it returns events instead: `accepted` with the id of the' +
    ' call, `started`, `log` as the skill prints (for a command with `stream`: `stdout` or `stderr`), `denied`, and `done` with the outcome. Closing the connection cancels the call.',
  scopes: ['call'],
  body: executeBody,
  answers: { 200: success, 409: failure, 422: failure, 499: failure, 504: failure },
  handle: async ({ service, identity, body, param, c }) => {
    const request = { ...body, name: param('name'), params: body.params ?? {}, trace: traceOf(c) };
    const { call, outcome } = await service.start(request, identity, c.req.raw.signal);
    if (!c.req.header('accept')?.includes('text/event-stream')) return answerOutcome(c, await outcome);
    outcome.catch(() => undefined);
    return streamSSE(c, (stream) => writeEvents(stream, call));
  },
});

const inspect: Route = route({
  method: 'get',
  path: '/v1/skills/{name}',
  tag: 'skills',
  summary: 'One skill: what it declares, what a call would be granted, and what enforces the grant',
  scopes: ['call', 'read'],
  answers: { 200: skillPage },
  handle: async ({ service, param, c }) =>
    json(c, await pageOf(service, service.shelf.locate(param('name')))),
});

const approve: Route = route({
  method: 'put',
  path: '/v1/skills/{name}/approval',
  tag: 'trust',
  summary: 'Approve a skill in exactly its current state',
  scopes: ['admin'],
  body: approvalBody,
  answers: { 200: approvalAnswer },
  handle: async ({ service, identity, body, param, c }) => {
    const { bundle } = await service.shelf.load(service.shelf.locate(param('name')));
    if (bundle.digest !== body.digest || pinLines(bundle).join('\n') !== body.pins.join('\n'))
      throw changedSince(bundle);
    const { skill, digest, by, at } = service.runtime.approvals.add(bundle, identity.caller);
    return json(c, { skill, digest, by, at });
  },
});

const revoke: Route = route({
  method: 'delete',
  path: '/v1/skills/{name}/approval',
  tag: 'trust',
  summary: 'Revoke all approvals of a skill',
  scopes: ['admin'],
  answers: { 200: revocation },
  handle: async ({ service, param, c }) => {
    const { bundle } = await service.shelf.load(service.shelf.locate(param('name')));
    return json(c, { removed: service.runtime.approvals.remove(bundle.manifest.name) });
  },
});

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

export const SKILL_ROUTES: readonly Route[] = [list, execute, approve, revoke, inspect];
