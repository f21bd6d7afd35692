/**
 * Generates functions whose names, schemas and descriptions try to break out of the source that describes them.
 *
 * @module
 */
import * as fc from 'fast-check';
import type { Callable } from '../../../src/tools/typings/contract.ts';
import { anySchema, type Schema } from '../pairs.ts';

/** Ends of comments, literals and lines, directives of compilers, and characters that hide. */
const FRAGMENTS = [
  '*/',
  '/*',
  '"""',
  '""',
  '"',
  "'''",
  '\\',
  '\\"""',
  '`',
  '${1}',
  '\n',
  '\r',
  '\r\n',
  '\u2028',
  '\u0085',
  '\u0000',
  '\u001b[2J',
  '\u202e',
  '\u{e0041}',
  '\ud800',
  '// x',
  '# x',
  '@ts-expect-error',
  '@ts-ignore',
  '/// <reference path="x" />',
  '# type: ignore',
  '# -*- coding: latin-1 -*-',
  '; export const evil = 1;',
  '\nevil = 1\n',
  '};',
  '):',
  '\\N{DIGIT ONE}',
  '\\x',
  'words',
  ' ',
  'ä😀',
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** Within a schema, it would make the rest of the schema too large to describe. */
const hugeText = fc.constantFrom('x'.repeat(3000), '\n'.repeat(2000), '*/'.repeat(2000), '"'.repeat(2000));

const names = fc.oneof(
  hostileText,
  fc.constantFrom(
    'new',
    'constructor',
    '__proto__',
    'self',
    'from',
    'None',
    '__mangled',
    '__debug__',
    'ﬁ',
    'a-b',
    '3d',
    '',
    'class',
    'Any',
  ),
);
const value = fc.oneof(
  hostileText,
  fc.double(),
  fc.constantFrom(-0, 1e21, Number.POSITIVE_INFINITY, 2 ** 53, -1, true, null, { a: 1 }, []),
);

const hostileSchema: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record(
      { type: fc.constantFrom('string', 'integer'), description: hostileText, enum: fc.array(value) },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        type: fc.constantFrom('object', 'array', 'string', 'integer', 'null', ['object', 'null'], 'made-up'),
        description: hostileText,
        default: value,
        const: value,
        pattern: hostileText,
        nullable: fc.boolean(),
        enum: fc.array(value, { maxLength: 40 }),
        items: tie('schema'),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        properties: fc.dictionary(names, tie('schema'), { maxKeys: 5 }),
        required: fc.array(names, { maxLength: 3 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

/** With an object at the root, where the interesting parts are. */
const rootSchema = fc.oneof(
  anySchema,
  hostileSchema,
  fc
    .tuple(fc.dictionary(names, hostileSchema, { maxKeys: 5 }), fc.array(names, { maxLength: 3 }))
    .map(([properties, required]): Schema => ({ type: 'object', properties, required })),
);

const segments = fc.constantFrom(
  'text',
  'text-x',
  '3d',
  'new',
  'class',
  'constructor',
  'a__b',
  'then',
  'none',
);
const callableWith = (schema: fc.Arbitrary<Schema>): fc.Arbitrary<Callable> =>
  fc
    .record({
      category: segments,
      own: segments,
      description: fc.oneof(hostileText, hugeText),
      parameters: schema,
      outputs: fc.dictionary(names, schema, { maxKeys: 3 }),
    })
    .map(({ category, own, description, parameters, outputs }) => ({
      name: `${category}/${own}`,
      description,
      parameters,
      outputs,
    }));

export const hostileCallables: fc.Arbitrary<Callable[]> = fc.uniqueArray(callableWith(rootSchema), {
  minLength: 1,
  maxLength: 3,
  selector: ({ name }) => name,
});

/** The same functions without any words of their authors. */
export function silenced(callables: readonly Callable[]): Callable[] {
  return callables.map((one) => ({
    ...one,
    description: '',
    parameters: withoutWords(one.parameters),
    outputs: withoutWords({ properties: one.outputs })['properties'] as Record<string, Schema>,
  }));
}

/** Keywords that hold a schema, a list of them, or schemas by name. */
const NESTED = new Set(['items', 'additionalProperties', 'not', 'if', 'else', 'contains', 'propertyNames']);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAPS = new Set(['properties', '$defs', 'patternProperties']);

function withoutWords(schema: unknown): Schema {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema as Schema;
  const entries = Object.entries(schema).filter(
    ([key, found]) => key !== 'description' || typeof found !== 'string',
  );
  return Object.fromEntries(
    entries.map(([key, found]: [string, unknown]) => {
      if (NESTED.has(key)) return [key, withoutWords(found)];
      if (LISTS.has(key) && Array.isArray(found)) return [key, found.map(withoutWords)];
      if (!MAPS.has(key) || typeof found !== 'object' || found === null) return [key, found];
      return [key, Object.fromEntries(Object.entries(found).map(([name, one]) => [name, withoutWords(one)]))];
    }),
  );
}
