/**
 * Requirements of OpenAI's strict mode. If a schema cannot meet them, the tool is offered without it.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { withoutAllOf } from './merge.ts';
import { isSchema } from './plain.ts';
import { typeList } from './types.ts';

/** Limits of older and smaller models, which are within those of all others. */
const MAX_PROPERTIES = 100;
const MAX_DEPTH = 5;
const MAX_ENUM_VALUES = 500;
const MAX_NAME_CHARACTERS = 15_000;

/** Thrown if a schema cannot be strict. */
export class NotStrict extends Error {}

export function assertStrictable(schema: JsonSchema, path: string): void {
  const reason = reasonAgainst(schema, path);
  if (reason !== undefined) throw new NotStrict(`${path === '' ? 'the root' : path} ${reason}`);
}

function reasonAgainst(schema: JsonSchema, path: string): string | undefined {
  const { type, properties, required, additionalProperties } = schema;
  if (type === undefined) return 'anyOf' in schema ? undefined : 'has no type';
  const types = typeList(type);
  if (types.includes('array') && !isSchema(schema['items']))
    return 'is an array without a type for its items';
  if (
    types.filter((one) => one !== 'null').length > 1 &&
    types.some((one) => one === 'object' || one === 'array')
  )
    return 'may be an object or another type';
  if (!types.includes('object')) return undefined;
  if ('patternProperties' in schema || isSchema(additionalProperties))
    return 'accepts properties with any name';
  const names = Object.keys((properties as JsonSchema | undefined) ?? {});
  if (names.length === 0 && additionalProperties !== false) return 'accepts properties with any name';
  const isOpenEnded = names.some((name) => !((required as string[] | undefined) ?? []).includes(name));
  // The meaning of null would depend on which alternative was chosen, which is ambiguous.
  return isOpenEnded && /\/(?:anyOf|oneOf)\/\d+(?:$|\/)/.test(path)
    ? 'has optional properties in an alternative'
    : undefined;
}

/** Checks the final schema. */
export function assertWithinLimits(schema: JsonSchema): void {
  const size = { properties: 0, enums: 0, characters: 0, depth: 0 };
  measure(schema, 0, size);
  if (size.properties > MAX_PROPERTIES) throw new NotStrict(`it has ${size.properties} properties`);
  if (size.depth > MAX_DEPTH) throw new NotStrict(`it is nested ${size.depth} levels deep`);
  if (size.enums > MAX_ENUM_VALUES) throw new NotStrict(`it has ${size.enums} enum values`);
  if (size.characters > MAX_NAME_CHARACTERS)
    throw new NotStrict('its property names and enum values are too long');
}

interface Size {
  properties: number;
  enums: number;
  characters: number;
  depth: number;
}

function measure(schema: JsonSchema, depth: number, size: Size): void {
  size.depth = Math.max(size.depth, depth);
  const values = (schema['enum'] as unknown[] | undefined) ?? [];
  const properties = Object.entries((schema['properties'] as Record<string, JsonSchema> | undefined) ?? {});
  size.enums += values.length;
  size.properties += properties.length;
  size.characters += [...values, ...properties.map(([name]) => name)].join('').length;
  for (const [, property] of properties) measure(property, depth + 1, size);
  if (isSchema(schema['items'])) measure(schema['items'], depth + 1, size);
  for (const one of (schema['anyOf'] as JsonSchema[] | undefined) ?? []) measure(one, depth, size);
}

/** Also allows null. */
export function nullable(schema: JsonSchema): JsonSchema {
  if (takesNull(schema)) return schema;
  const { type, enum: values, const: value, description, ...rest } = schema;
  if (type === undefined || 'const' in schema) {
    const { description: _omitted, ...bare } = schema;
    return {
      ...(description === undefined ? {} : { description }),
      anyOf: [...alternativesOf(bare), { type: 'null' }],
    };
  }
  return {
    ...rest,
    ...(value === undefined ? {} : { const: value }),
    ...(description === undefined ? {} : { description }),
    type: [...typeList(type), 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}

function alternativesOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf, ...rest } = schema;
  return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? (anyOf as JsonSchema[]) : [schema];
}

/** Whether null is already a valid value, as far as the schema shows. */
export function takesNull(original: JsonSchema): boolean {
  const schema = withoutAllOf(original);
  const { type, enum: values, const: value, anyOf, oneOf } = schema;
  if ('const' in schema) return value === null;
  if (Array.isArray(values)) return values.includes(null);
  if (type !== undefined) return typeList(type).includes('null');
  const alternatives = [anyOf, oneOf].filter(Array.isArray).flat() as JsonSchema[];
  return alternatives.length === 0 || alternatives.some(takesNull);
}
