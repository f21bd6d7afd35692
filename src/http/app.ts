/**
 * The service as a function from request to answer: who asks, may they, what do they send, and then the route.
 *
 * @module
 */
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { SkillError, type Runtime } from '../index.ts';
import { mayDo, type Identity } from './access.ts';
import { answerError, json, Refusal } from './answers.ts';
import { readJson } from './body.ts';
import { addConsole } from './console.ts';
import { isOurHost } from './host-check.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/all.ts';
import type { Service } from './service.ts';

export const MAX_BODY_BYTES: number = 1024 * 1024;

const NOBODY: Identity = { tenant: '', token: '', scopes: new Set(), caller: 'http' };

export function createApp(service: Service): Hono {
  const app = new Hono();
  app.onError((error, c) => answerError(c, error, service.folders));
  app.notFound((c) => answerError(c, unknownRoute(c), service.folders));
  app.use(async (c, next) => {
    if (!isOurHost(c.req.header('host'), service.options.hostNames ?? [])) throw foreignHost(c);
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
    if (!c.res.headers.has('Content-Security-Policy'))
      c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  });
  addConsole(app);
  const document = openApiDocument(ROUTES);
  app.get('/openapi.json', (c) => json(c, document));
  for (const route of ROUTES) app.on(route.method, [honoPath(route.path)], (c) => answer(service, route, c));
  return app;
}

async function answer(service: Service, route: Route, c: Context): Promise<Response> {
  const label = `${route.method} ${route.path}`;
  try {
    const response = await handle(service, route, c);
    service.metrics.requested(label, response.status);
    return response;
  } catch (thrown) {
    if (thrown instanceof SkillError && thrown.detail['limit'] === 'busy') service.metrics.refused('busy');
    const response = answerError(c, thrown, service.folders);
    service.metrics.requested(label, response.status);
    return response;
  }
}

async function handle(service: Service, route: Route, c: Context): Promise<Response> {
  const identity = route.scopes === 'open' ? NOBODY : identify(service, route.scopes, c);
  const query = route.query ? checked(route.query, c.req.query(), 'query') : {};
  const body = route.body ? await bodyOf(service, route.body, { identity, c }) : undefined;
  return route.handle({
    service,
    identity,
    query: query as never,
    body: body as never,
    param: (name) => c.req.param(name) ?? '',
    c,
  });
}

async function bodyOf(
  { options, runtime }: Service,
  schema: z.ZodType,
  { identity, c }: { identity: Identity; c: Context },
): Promise<unknown> {
  const { maxBodyBytes: maxBytes = MAX_BODY_BYTES } = options;
  const read: Runtime['readMessage'] = (bytes, message) => runtime.readMessage(bytes, message);
  return checked(schema, await readJson(c.req.raw, { maxBytes, read, owner: identity.tenant }), 'body');
}

function identify(service: Service, scopes: Exclude<Route['scopes'], 'open'>, c: Context): Identity {
  const identity = service.access.identify(c.req.header('authorization'));
  if (!identity) {
    service.metrics.refused('token');
    throw new Refusal(401, {
      code: 'untrusted',
      message: 'There is no token with this request, or nobody knows it',
      fix: 'Send Authorization: Bearer TOKEN; `skillcell serve --new-token NAME` makes one.',
    });
  }
  if (mayDo(identity, scopes)) return identity;
  service.metrics.refused('scope');
  throw new Refusal(403, {
    code: 'untrusted',
    message: `The token "${identity.token}" has not got the scope ${scopes.join(' or ')}`,
    fix: 'Use a token with that scope, or have the operator make one.',
    detail: { needs: [...scopes], has: [...identity.scopes] },
  });
}

function checked(schema: z.ZodType, value: unknown, what: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = z.prettifyError(parsed.error).replaceAll('\n', ' ');
  throw new SkillError('usage', `The ${what} of the request is wrong: ${problems}`, {
    fix: 'See GET /openapi.json for what it may hold.',
  });
}

/** The id of a skill holds a slash. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'name' ? ':name{.+}' : `:${name}`));
}

function unknownRoute(c: Context): Refusal {
  return new Refusal(404, {
    code: 'usage',
    message: `There is nothing at ${c.req.method} ${JSON.stringify(c.req.path.slice(0, 200))}`,
    fix: 'See GET /openapi.json for all routes.',
  });
}

function foreignHost(c: Context): Refusal {
  return new Refusal(421, {
    code: 'untrusted',
    message: `This service is not called ${JSON.stringify((c.req.header('host') ?? '').slice(0, 200))}`,
    fix: 'Reach it by its address or as localhost, or have the operator add the name with --allow-host.',
  });
}
