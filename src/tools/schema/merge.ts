/**
 * Merges combined conditions into one schema, for providers without `allOf`, and reduces the root to an object. The result
 * may be looser than the original, never stricter.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../../manifest/manifest.ts';
import { isSchema } from './plain.ts';
import { typeList } from './types.ts';

type Merge = (one: unknown, other: unknown) => unknown;

const MERGES: Readonly<Record<string, Merge>> = {
  type: (one, other) => narrower(typeList(one), typeList(other)),
  enum: (one, other) => shared(one as unknown[], other as unknown[]),
  required: (one, other) => [...new Set([...(one as string[]), ...(other as string[])])],
  properties: mergeMaps,
  patternProperties: mergeMaps,
  additionalProperties: (one, other) => (one === false || other === false ? false : undefined),
  description: (one, other) => `${one as string} ${other as string}`,
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((key) => [key, larger]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((key) => [key, smaller]),
  ),
};

/** Merges `allOf` into the schema. */
export function withoutAllOf(schema: JsonSchema): JsonSchema {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return schema;
  return allOf.filter(isSchema).map(withoutAllOf).reduce(combine, own);
}

/** Combines two schemas; for keywords that cannot be merged, the first wins. */
function combine(one: JsonSchema, other: JsonSchema): JsonSchema {
  const joined: JsonSchema = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    // These two keywords belong together, so they are not mixed.
    if ((keyword === 'items' || keyword === 'prefixItems') && ('items' in one || 'prefixItems' in one))
      continue;
    const merged = keyword in one ? (MERGES[keyword] ?? first)(one[keyword], value) : value;
    if (merged === undefined) delete joined[keyword];
    else joined[keyword] = merged;
  }
  return joined;
}

/** Reduces the root to an object, because providers accept no alternatives there; undefined if it cannot be an object. */
export function objectRoot(schema: JsonSchema): JsonSchema | undefined {
  const { anyOf, oneOf, enum: _values, const: _value, ...root } = withoutAllOf(schema);
  if (!typeList(root['type'] ?? 'object').includes('object')) return undefined;
  const alternatives = [anyOf, oneOf].filter(Array.isArray).map(mergeAlternatives);
  if (alternatives.includes(undefined)) return undefined;
  const whole = (alternatives as JsonSchema[]).reduce(combine, root);
  return { ...whole, type: 'object' };
}

/** Allows the properties of every alternative, and requires those that all of them require. */
function mergeAlternatives(alternatives: unknown[]): JsonSchema | undefined {
  const objects = alternatives
    .filter(isSchema)
    .map(objectRoot)
    .filter((one) => one !== undefined);
  if (objects.length === 0) return undefined;
  const names = new Set(objects.flatMap((one) => Object.keys(propertiesOf(one))));
  const properties = [...names].map((name) => [name, anyOf(objects.map((one) => propertiesOf(one)[name]))]);
  const [required = [], ...others] = objects.map((one) => (one['required'] as string[] | undefined) ?? []);
  return {
    properties: Object.fromEntries(properties),
    required: required.filter((name) => others.every((list) => list.includes(name))),
  };
}

function anyOf(schemas: (JsonSchema | undefined)[]): JsonSchema {
  const different: JsonSchema[] = [];
  for (const schema of schemas)
    if (schema && !different.some((one) => isDeepStrictEqual(one, schema))) different.push(schema);
  return different.length === 1 ? (different[0] as JsonSchema) : { anyOf: different };
}

function propertiesOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  return isSchema(properties) ? (properties as Record<string, JsonSchema>) : {};
}

function mergeMaps(one: unknown, other: unknown): JsonSchema {
  const [left, right] = [one, other] as [Record<string, JsonSchema>, Record<string, JsonSchema>];
  const added = Object.entries(right).map(
    ([name, schema]) =>
      [name, Object.hasOwn(left, name) ? combine(left[name] as JsonSchema, schema) : schema] as const,
  );
  return Object.fromEntries([...Object.entries(left), ...added]);
}

function first(one: unknown): unknown {
  return one;
}

function larger(one: unknown, other: unknown): number {
  return Math.max(one as number, other as number);
}

function smaller(one: unknown, other: unknown): number {
  return Math.min(one as number, other as number);
}

/** The types that both allow; those of the first if there are none. */
function narrower(one: string[], other: string[]): string | string[] {
  const common = one.filter(
    (type) => other.includes(type) || (type === 'integer' && other.includes('number')),
  );
  if (one.includes('number') && other.includes('integer') && !common.includes('integer'))
    common.push('integer');
  const types = common.length > 0 ? common : one;
  return types.length === 1 ? (types[0] as string) : types;
}

function shared(one: unknown[], other: unknown[]): unknown[] {
  const common = one.filter((value) => other.some((candidate) => isDeepStrictEqual(value, candidate)));
  return common.length > 0 ? common : one;
}
