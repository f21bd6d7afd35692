/**
 * The OpenAPI 3.1 document, generated from the list of routes.
 *
 * @module
 */
import { z } from 'zod';
import { packageVersion } from '../inside.ts';
import type { Route } from './route.ts';
import { errorAnswer } from './answer-schemas.ts';
import { API_SCHEMAS } from './schema-registry.ts';

type Json = Record<string, unknown>;

const PARAMETERS: Readonly<Record<string, string>> = {
  name: 'Id of a skill, `category/name`. The slash may also be encoded as `%2F`.',
  id: 'Id of a call.',
};

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'Invalid request.',
  401: 'Missing or invalid token.',
  403: 'The token lacks the scope, or the skill was denied a capability.',
  404: 'Unknown skill or call.',
  429: 'Too many calls; `Retry-After` says when to retry.',
};

export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skillcell',
      version: packageVersion(),
      description: 'Runs untrusted AI-agent skills, each call in a fresh sandbox.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: namedSchemas(),
    },
  };
}

function operation(route: Route): Json {
  const { method, path, tag, summary, description, scopes, query, body, rawBody } = route;
  const needs = scopes === 'open' ? 'Needs no token.' : `Needs the scope ${scopes.join(' or ')}, or admin.`;
  return {
    operationId: `${method} ${path}`.replaceAll(/[^a-z0-9]+/gi, '_').replace(/_$/, ''),
    tags: [tag],
    summary,
    description: [description, needs].filter(Boolean).join('\n\n'),
    ...(scopes === 'open' ? { security: [] } : {}),
    parameters: [...pathParameters(path), ...(query ? queryParameters(query) : [])],
    ...(body ? { requestBody: { required: true, content: jsonContent(body) } } : {}),
    ...(rawBody ? { requestBody: { required: true, content: binaryContent(rawBody) } } : {}),
    responses: responses(route),
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETERS[name],
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType): Json[] {
  const schema = z.toJSONSchema(query, { io: 'input' }) as { properties?: Record<string, Json> };
  return Object.entries(schema.properties ?? {}).map(([name, { description, ...property }]) => ({
    name,
    in: 'query',
    description,
    // Query values are text; the ones without a type are coerced to numbers.
    schema: { ...property, ...(Object.keys(property).length === 0 ? { type: 'integer' } : {}) },
  }));
}

/** Additional errors of routes with a body. */
const BODY_REFUSALS: Readonly<Record<string, string>> = {
  409: 'The skill does not match its manifest or lock, or has changed since it was reviewed.',
  413: 'The body is too large.',
  415: 'The body does not have the expected type.',
};

function responses({ answers, scopes, body, rawBody }: Route): Json {
  const all = { ...REFUSALS, ...(body || rawBody ? BODY_REFUSALS : {}) };
  const refusals = scopes === 'open' ? [] : Object.entries(all);
  return {
    ...Object.fromEntries(
      refusals.map(([status, description]) => [status, { description, content: jsonContent(errorAnswer) }]),
    ),
    ...Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        {
          description: status.startsWith('20') ? 'Success.' : 'The whole outcome.',
          content: answer instanceof z.ZodType ? jsonContent(answer) : textContent([answer].flat()),
        },
      ]),
    ),
  };
}

function textContent(types: readonly string[]): Json {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}

function binaryContent(types: readonly string[]): Json {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));
}

function jsonContent(schema: z.ZodType): Json {
  const id = API_SCHEMAS.get(schema)?.id;
  return { 'application/json': { schema: { $ref: `#/components/schemas/${String(id)}` } } };
}

function namedSchemas(): Json {
  const { schemas } = z.toJSONSchema(API_SCHEMAS, {
    uri: (id) => `#/components/schemas/${id}`,
    io: 'input',
    unrepresentable: 'any',
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _draft, $id: _id, ...schema }]) => [name, schema]),
  );
}
