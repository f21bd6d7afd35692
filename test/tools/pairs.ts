/**
 * Generates schemas of parameters with matching values, and arbitrary schemas.
 *
 * @module
 */
import * as fc from 'fast-check';

export type Schema = Record<string, unknown>;

export interface Pair {
  schema: Schema;
  value: unknown;
}

/** Includes names that some providers do not accept. */
const names = fc.oneof(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.constantFrom('a b', 'a_b', 'a-b', 'x.y', '3d', 'ä', '', '$ref', 'type', 'n'.repeat(70), 'n'.repeat(71)),
);
const described = fc.option(fc.record({ description: fc.constantFrom('What it is.', 'Another one.') }), {
  nil: {},
});

const text: fc.Arbitrary<Pair> = fc
  .tuple(fc.string({ maxLength: 8 }), fc.nat(3), fc.boolean())
  .map(([value, slack, isLoose]) => ({
    schema: isLoose
      ? { type: 'string' }
      : { type: 'string', minLength: 0, maxLength: value.length + slack, default: 'x' },
    value,
  }));
const number: fc.Arbitrary<Pair> = fc.tuple(fc.integer(), fc.nat(5)).map(([value, slack]) => ({
  schema: { type: 'integer', minimum: value - slack, exclusiveMaximum: value + slack + 1 },
  value,
}));
const scalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.boolean(), fc.constant(null));
const choice: fc.Arbitrary<Pair> = fc
  .tuple(scalar, fc.array(scalar, { maxLength: 3 }))
  .map(([value, others]) => ({ schema: { enum: [...new Set([...others, value])] }, value }));
const fixed: fc.Arbitrary<Pair> = scalar.map((value) => ({ schema: { const: value }, value }));
const orNull: fc.Arbitrary<Pair> = fc
  .option(fc.string({ maxLength: 4 }))
  .map((value) => ({ schema: { type: ['string', 'null'] }, value }));
const several: fc.Arbitrary<Pair> = fc
  .oneof(fc.integer(), fc.boolean())
  .map((value) => ({ schema: { type: ['integer', 'boolean'], minimum: -4_294_967_296 }, value }));
/** Values that survive a JSON round trip. */
const anything: fc.Arbitrary<Pair> = fc
  .oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]+$/), scalar, { maxKeys: 3 }),
  )
  .map((value) => ({ schema: {}, value }));
const map: fc.Arbitrary<Pair> = fc
  .dictionary(fc.stringMatching(/^[a-z]+$/), fc.integer(), { maxKeys: 3, noNullPrototype: true })
  .map((value) => ({ schema: { type: 'object', additionalProperties: { type: 'integer' } }, value }));
const flag: fc.Arbitrary<Pair> = fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value }));

const pairs: (depth: number) => fc.Arbitrary<Pair> = (depth) => {
  const leaves = [text, text, number, choice, fixed, orNull, several, anything, map, flag];
  if (depth === 0) return fc.oneof(...leaves);
  const inner = pairs(depth - 1);
  return fc
    .tuple(
      fc.oneof(...leaves, objects(depth - 1), lists(inner), alternatives(inner), together(inner)),
      described,
    )
    .map(([{ schema, value }, words]) => ({ schema: { ...words, ...schema }, value }));
};

const lists = (inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> =>
  fc.tuple(inner, fc.nat(3), fc.boolean()).map(([{ schema, value }, length, isOpen]) => ({
    schema: { type: 'array', ...(isOpen ? {} : { items: schema }), maxItems: 9, uniqueItems: false },
    value: Array.from({ length }, () => value),
  }));

const alternatives = (inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> =>
  fc
    .tuple(inner, inner)
    .map(([one, other]) => ({ schema: { anyOf: [one.schema, other.schema] }, value: one.value }));

const together = (inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> =>
  inner.map(({ schema, value }) => ({ schema: { allOf: [schema, { description: 'Both.' }] }, value }));

const objects = (depth: number): fc.Arbitrary<Pair> =>
  fc
    .tuple(
      fc.uniqueArray(
        fc.record({ name: names, pair: pairs(depth), isRequired: fc.boolean(), isThere: fc.boolean() }),
        { maxLength: 4, selector: ({ name }) => name },
      ),
      fc.boolean(),
    )
    .map(([properties, isClosed]) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(properties.map(({ name, pair }) => [name, pair.schema])),
        required: properties.filter(({ isRequired }) => isRequired).map(({ name }) => name),
        ...(isClosed ? { additionalProperties: false } : {}),
      },
      value: Object.fromEntries(
        properties.filter((one) => one.isRequired || one.isThere).map(({ name, pair }) => [name, pair.value]),
      ),
    }));

/** A schema of parameters, and matching arguments. */
export const parameters: fc.Arbitrary<Pair> = objects(2);

/** Any object schema that a manifest may contain, including references and conditions. */
export const anySchema: fc.Arbitrary<Schema> = fc
  .letrec<{ schema: Schema; root: Schema }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      pairs(0).map(({ schema }) => schema),
      fc.record(
        {
          type: fc.constantFrom(
            'object',
            'array',
            'string',
            'number',
            ['object', 'string'],
            ['array', 'null'],
          ),
          title: fc.constant('A title'),
          description: fc.constant('Words.'),
          $comment: fc.constant('For authors.'),
          $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/nowhere', '#anchor', '#/properties/a'),
          properties: fc.dictionary(names, fc.oneof(tie('schema'), fc.boolean()), { maxKeys: 3 }),
          patternProperties: fc.record({ '^x-': tie('schema') }),
          propertyNames: fc.constant({ maxLength: 40 }),
          dependentRequired: fc.constant({ a: ['b'] }),
          required: fc.constantFrom(['a'], ['a b', 'zzz'], []),
          additionalProperties: fc.oneof(tie('schema'), fc.boolean()),
          unevaluatedProperties: fc.constant(false),
          items: fc.oneof(tie('schema'), fc.boolean()),
          prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          contains: tie('schema'),
          anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          not: tie('schema'),
          if: tie('schema'),
          else: tie('schema'),
          enum: fc.constantFrom(['a', 'b'], [1, 'a', null], [{ a: 1 }]),
          const: fc.constantFrom('a', 1, null),
          format: fc.constantFrom('date-time', 'uri', 'email', 'made-up'),
          pattern: fc.constant('^a+$'),
          multipleOf: fc.constant(2),
          'x-own': fc.constant({ anything: true }),
        },
        { requiredKeys: [] },
      ),
    ),
    root: fc
      .tuple(tie('schema'), tie('schema'))
      .map(([schema, definition]) => Object.assign({}, schema, { type: 'object', $defs: { a: definition } })),
  }))
  .root.map(({ $ref: _none, ...schema }) => schema);
