/**
 * Maps requests to answers: identifies the caller, checks scopes, query and body, then runs the route.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { SkillError, type Runtime } from '../inside.ts';
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

const ANONYMOUS: Identity = { tenant: '', token: '', scopes: new Set(), caller: 'http' };

const ALWAYS_SENT = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const;
const SENT_BY_DEFAULT = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

export function createApp(service: Service): Hono {
  const app = new Hono();
  app.onError((error, c) => answerError(c, error, service.foldersFor(c.req.raw)));
  app.notFound((c) => answerError(c, unknownRoute(c), service.folders));
  logRequests(app, service);
  app.use(async (c, next) => {
    if (!isOurHost(c.req.header('host'), service.options.hostNames ?? [])) throw unknownHost(c);
    await next();
    // Not by `c.header`, which copies a finished response for every header.
    const { headers } = c.res;
    // The next request of this client should go to another instance.
    if (service.isClosing) headers.set('Connection', 'close');
    for (const [name, value] of ALWAYS_SENT) headers.set(name, value);
    for (const [name, value] of SENT_BY_DEFAULT) if (!headers.has(name)) headers.set(name, value);
  });
  addConsole(app);
  const document = openApiDocument(ROUTES);
  app.get('/openapi.json', (c) => json(c, document));
  for (const route of ROUTES) app.on(route.method, [honoPath(route.path)], (c) => answer(service, route, c));
  return app;
}

/** Around everything else, so that refused requests are logged as well. */
function logRequests(app: Hono, { options: { accessLog }, identities }: Service): void {
  if (!accessLog) return;
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    const { incoming } = c.env as { incoming?: IncomingMessage };
    const { tenant, token } = identities.get(c.req.raw) ?? {};
    accessLog.write({
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: performance.now() - began,
      remote: incoming?.socket.remoteAddress,
      tenant,
      token,
    });
  });
}

async function answer(service: Service, route: Route, c: Context): Promise<Response> {
  const label = `${route.method} ${route.path}`;
  try {
    const response = await handle(service, route, c);
    service.metrics.recordRequest(label, response.status);
    return response;
  } catch (thrown) {
    if (thrown instanceof SkillError) countRefusal(service, thrown);
    const response = answerError(c, thrown, service.foldersFor(c.req.raw));
    service.metrics.recordRequest(label, response.status);
    return response;
  }
}

function countRefusal({ metrics }: Service, { detail }: SkillError): void {
  if (detail['limit'] === 'busy') metrics.recordRefusal(detail['quota'] === undefined ? 'busy' : 'quota');
  if (detail['closing'] === true) metrics.recordRefusal('closing');
}

async function handle(service: Service, route: Route, c: Context): Promise<Response> {
  const identity = route.scopes === 'open' ? ANONYMOUS : await identify(service, route.scopes, c);
  const query = route.query ? validate(route.query, c.req.query(), 'query') : {};
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
  return validate(schema, await readJson(c.req.raw, { maxBytes, read, owner: identity.tenant }), 'body');
}

async function identify(
  service: Service,
  scopes: Exclude<Route['scopes'], 'open'>,
  c: Context,
): Promise<Identity> {
  const identity = await service.access.identifyAny(c.req.header('authorization'));
  if (identity) service.identities.set(c.req.raw, identity);
  if (!identity) {
    service.metrics.recordRefusal('token');
    throw new Refusal(401, {
      code: 'untrusted',
      message: 'Missing or invalid token',
      fix: 'Send the header "Authorization: Bearer TOKEN". Create a token with `skillcell tokens create NAME`.',
    });
  }
  if (mayDo(identity, scopes)) return identity;
  service.metrics.recordRefusal('scope');
  throw new Refusal(403, {
    code: 'untrusted',
    message: `The token "${identity.token}" lacks the scope ${scopes.join(' or ')}`,
    fix: 'Use a token with that scope, or ask the operator to create one.',
    detail: { needs: [...scopes], has: [...identity.scopes] },
  });
}

function validate(schema: z.ZodType, value: unknown, what: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = z.prettifyError(parsed.error).replaceAll('\n', ' ');
  throw new SkillError('usage', `The ${what} of the request is invalid: ${problems}`, {
    fix: 'See GET /openapi.json for its schema.',
  });
}

/** The id of a skill contains a slash. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'name' ? ':name{.+}' : `:${name}`));
}

function unknownRoute(c: Context): Refusal {
  return new Refusal(404, {
    code: 'usage',
    message: `Unknown route: ${c.req.method} ${JSON.stringify(c.req.path.slice(0, 200))}`,
    fix: 'See GET /openapi.json for all routes.',
  });
}

function unknownHost(c: Context): Refusal {
  return new Refusal(421, {
    code: 'untrusted',
    message: `The host name ${JSON.stringify((c.req.header('host') ?? '').slice(0, 200))} is not allowed for this service`,
    fix: 'Use the IP address or localhost, or ask the operator to add the name with --allow-host.',
  });
}
