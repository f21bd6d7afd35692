/**
 * The route that runs programs.
 *
 * @module
 */
import { streamSSE } from 'hono/streaming';
import { answerOutcome } from '../answers.ts';
import { failure, success } from '../answer-schemas.ts';
import { writeEvents } from '../events.ts';
import { programBody } from '../request-schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { traceOf } from '../trace.ts';

const route = routesOf('skills');

const run: Route = route('post /v1/programs', {
  summary: 'Run a program that calls skills, each in a fresh sandbox',
  description:
    'Only if the service was started with `--programs`. Returns the outcome, with the calls inside in `children`. With' +
    ' `Accept: text/event-stream` it returns the events of the program instead, as for one skill. Closing the connection' +
    ' cancels the program and all calls inside.',
  scopes: ['call'],
  body: programBody,
  answers: { 200: success, 403: failure, 409: failure, 422: failure, 499: failure, 504: failure },
  handle: async ({ service, identity, body, c }) => {
    const { limits = {}, ...rest } = body;
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    const request = { ...rest, limits: Object.fromEntries(given), trace: traceOf(c) };
    const { call, outcome } = await service.startProgram(request, identity, c.req.raw.signal);
    if (!c.req.header('accept')?.includes('text/event-stream')) return answerOutcome(c, await outcome);
    outcome.catch(() => undefined);
    return streamSSE(c, (stream) => writeEvents(stream, call));
  },
});

export const PROGRAM_ROUTES: readonly Route[] = [run];
