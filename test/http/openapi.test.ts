/**
 * The OpenAPI document is valid OpenAPI 3.1, and matches the answers of the service.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

interface Operation {
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; schema: object }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
  requestBody?: { content: Record<string, { schema: object }> };
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: object };
}

/** The rules of OpenAPI 3.1 for the parts that we use; its schemas are JSON Schema 2020-12. */
const text = { type: 'string', minLength: 1 };
const content = {
  type: 'object',
  minProperties: 1,
  additionalProperties: { type: 'object', required: ['schema'], properties: { schema: { type: 'object' } } },
};
const META = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  properties: {
    openapi: { const: '3.1.0' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      properties: { title: text, version: text, description: text },
      additionalProperties: false,
    },
    servers: { type: 'array', items: { type: 'object', required: ['url'], properties: { url: text } } },
    security: { type: 'array', items: { type: 'object', additionalProperties: { type: 'array' } } },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: {
        type: 'object',
        propertyNames: { enum: ['get', 'put', 'post', 'delete'] },
        additionalProperties: {
          type: 'object',
          required: ['operationId', 'responses', 'summary'],
          additionalProperties: false,
          properties: {
            operationId: { type: 'string', pattern: '^[A-Za-z0-9_]+$' },
            tags: { type: 'array', items: text },
            summary: text,
            description: text,
            security: { type: 'array' },
            parameters: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name', 'in', 'schema'],
                additionalProperties: false,
                properties: {
                  name: text,
                  in: { enum: ['path', 'query'] },
                  required: { type: 'boolean' },
                  description: text,
                  schema: { type: 'object' },
                },
                if: { properties: { in: { const: 'path' } } },
                // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
                then: { required: ['required'], properties: { required: { const: true } } },
              },
            },
            requestBody: {
              type: 'object',
              required: ['content'],
              properties: { content, required: { type: 'boolean' } },
            },
            responses: {
              type: 'object',
              minProperties: 1,
              propertyNames: { pattern: '^[1-5]\\d\\d$' },
              additionalProperties: {
                type: 'object',
                required: ['description'],
                properties: { description: text, content },
                additionalProperties: false,
              },
            },
          },
        },
      },
    },
    components: {
      type: 'object',
      properties: {
        schemas: { type: 'object', propertyNames: { pattern: '^[A-Za-z0-9._-]+$' } },
        securitySchemes: {
          type: 'object',
          additionalProperties: { type: 'object', required: ['type', 'scheme'] },
        },
      },
    },
  },
};

let stage: Stage;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  stage = await openStage({ skills: { echo: { source: 'def execute(params):\n    return params' } } });
  document = (await (await stage.ask('/openapi.json')).json()) as Document;
  ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: 'https://openapi.test/', ...document });
});

afterAll(() => stage[Symbol.asyncDispose]());

function operations(): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
  );
}

function everyReference(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(everyReference)];
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', () => {
    const check = new Ajv2020({ strict: false }).compile(META);
    check(document);
    expect(check.errors).toBeNull();
  });

  test('names every operation once and describes every path parameter', () => {
    const ids = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, path, { parameters }] of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath);
    }
  });

  test('refers only to schemas that it contains, and all are valid', () => {
    const references = new Set(everyReference(document));
    expect(references.size).toBeGreaterThan(10);
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/schemas\//);
      expect(document.components.schemas).toHaveProperty(reference.split('/').at(-1) ?? '');
    }
    for (const name of Object.keys(document.components.schemas)) {
      const check = ajv.getSchema(`https://openapi.test/#/components/schemas/${name}`);
      expect(check, name).toBeDefined();
    }
  });
});

describe('the HTTP service', () => {
  /** Checks an answer against the schema in the document for its status. */
  async function hold(path: string, response: Response, method = 'get'): Promise<void> {
    const operation = document.paths[path]?.[method];
    const schema = operation?.responses[response.status]?.content?.['application/json']?.schema;
    expect(schema, `${method} ${path} ${response.status}`).toBeDefined();
    const [reference = ''] = everyReference(schema);
    const check = ajv.getSchema(`https://openapi.test/${reference}`)!;
    void check(await response.json());
    expect(check.errors).toBeNull();
  }

  test('answers as documented', async () => {
    const as = 'admin';
    await hold('/v1/skills/{name}/execute', await stage.execute('test/echo', { a: 1 }), 'post');
    await hold('/v1/skills/{name}/execute', await stage.execute('test/none'), 'post');
    await hold('/v1/skills', await stage.ask('/v1/skills', { as }));
    await hold('/v1/skills', await stage.ask('/v1/skills'));
    await hold('/v1/skills/{name}', await stage.ask('/v1/skills/test/echo', { as }));
    await hold('/v1/calls', await stage.ask('/v1/calls', { as }));
    await hold('/v1/receipts', await stage.ask('/v1/receipts', { as }));
    await hold('/v1/receipts/verify', await stage.ask('/v1/receipts/verify', { as }));
    await hold('/v1/stats', await stage.ask('/v1/stats?minutes=5&buckets=3', { as }));
    await hold('/v1/stats', await stage.ask('/v1/stats?minutes=never', { as }));
    await hold('/v1/me', await stage.ask('/v1/me', { as }));
    await hold('/healthz', await stage.ask('/healthz'));
    await hold('/readyz', await stage.ask('/readyz'));
    const [newest] = stage.runtime.audit.list({ limit: 1 });
    const id = newest?.receipt.call_id ?? '';
    await hold('/v1/receipts/{id}', await stage.ask(`/v1/receipts/${id}`, { as }));
    await hold('/v1/calls/{id}', await stage.ask(`/v1/calls/${id}`, { as }));
  });

  test('serves every path of the document and no other', async () => {
    for (const [method, path] of operations()) {
      const { status } = await stage.ask(path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
      expect(status, `${method} ${path}`).toBe(path === '/healthz' || path === '/readyz' ? 200 : 401);
    }
    expect((await stage.ask('/v1/x')).status).toBe(404);
  });
});
