/**
 * The package has the compiled check of schemas, a checkout has Ajv compile it. Both must say the same about every schema.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiledDraftCheck } from '../../scripts/compiled-draft.ts';
import { draftCheck } from '../../src/manifest/draft-check.ts';

let folder: string;
let compiled: ValidateFunction;
const made = draftCheck();

beforeAll(async () => {
  folder = mkdtempSync(join(import.meta.dirname, '.compiled-'));
  const [source, file] = [join(folder, 'draft.mjs'), join(folder, 'bundled.mjs')];
  writeFileSync(source, compiledDraftCheck());
  await build({ entryPoints: [source], outfile: file, bundle: true, format: 'esm', platform: 'node' });
  const loaded = (await import(file)) as { draftCheck: () => ValidateFunction };
  compiled = loaded.draftCheck();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The verdict with the errors that users read. */
function judged(check: ValidateFunction, schema: unknown): unknown {
  const isSchema = check(schema);
  return {
    isSchema,
    errors: (check.errors ?? []).map(({ instancePath, message }) => ({ instancePath, message })),
  };
}

function expectTheSame(schema: unknown): unknown {
  const found = judged(made, schema);
  expect(judged(compiled, schema)).toEqual(found);
  return found;
}

const nested = (schema: unknown): unknown => ({ properties: { a: { items: { anyOf: [{}, schema] } } } });

describe('the compiled check of schemas', () => {
  test.each<[unknown]>([
    [{}],
    [true],
    [{ type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] }],
    [{ $ref: '#/$defs/a', $defs: { a: { not: { const: 1 } } } }],
    [{ type: 'string', format: 'uri', pattern: '^a+$' }],
    [{ unevaluatedProperties: false, contentSchema: { type: 'string' }, dependentSchemas: { a: true } }],
  ])('accepts %j', (schema) => {
    expect(expectTheSame(schema)).toMatchObject({ isSchema: true });
    expect(expectTheSame(nested(schema))).toMatchObject({ isSchema: true });
  });

  test.each<[unknown]>([
    [{ type: 'strin' }],
    [{ type: ['string', 'string'] }],
    [{ properties: [] }],
    [{ required: 'a' }],
    [{ minLength: -1 }],
    [{ minLength: 1.5 }],
    [{ multipleOf: 0 }],
    [{ pattern: '(' }],
    [{ patternProperties: { '(': {} } }],
    [{ $ref: 7 }],
    [{ $id: 'http://[' }],
    [{ $anchor: '1' }],
    [{ allOf: [] }],
    [{ enum: 1 }],
    [{ $defs: { a: 1 } }],
    [7],
    [null],
  ])('refuses %j, for the same reason', (schema) => {
    const found = expectTheSame(schema) as { isSchema: boolean };
    expect(expectTheSame(nested(schema))).toMatchObject({ isSchema: found.isSchema });
  });

  test('says the same about arbitrary values under the keywords of the draft', () => {
    const keyword = fc.constantFrom(
      ...[
        'type',
        'properties',
        'items',
        'prefixItems',
        'required',
        'enum',
        'const',
        'anyOf',
        'not',
        '$ref',
        '$defs',
      ],
      ...[
        'minLength',
        'maximum',
        'pattern',
        'format',
        'additionalProperties',
        'dependentRequired',
        'uniqueItems',
      ],
    );
    const schema = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.constantFrom('string', 'object', '#/$defs/a', '^a', 3, -1, 0.5, null),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
      ),
    })).schema;
    fc.assert(
      fc.property(schema, (value) => void expectTheSame(value)),
      { numRuns: 500 },
    );
  });
});
