/**
 * Converts a schema to the OpenAPI 3.0 dialect of Gemini: one type in capitals, `nullable`, enums only for strings, no
 * object without properties and no array without items.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import type { Note } from './plain.ts';
import { chainRestores, fromJsonText, type Restore } from './restore.ts';
import { takesText, typesOf } from './types.ts';
import { withRemark, withWords } from './words.ts';

/** Keywords allowed with each type. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['format', 'minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required'],
};
const SHARED = ['title', 'description'];

export interface DialectContext {
  path: string;
  note: Note;
}

export interface Dialect {
  schema: JsonSchema;
  restore: Restore | undefined;
}

/** Expects nested schemas to be converted already. */
export function openApi(schema: JsonSchema, context: DialectContext): Dialect {
  const { type: _types, anyOf, ...own } = schema;
  const types = typesOf(schema);
  const choices = own['enum'] as unknown[] | undefined;
  const orNull = types.includes('null') && (choices?.includes(null) ?? true) ? { nullable: true } : {};
  const dialect = Array.isArray(anyOf)
    ? withAlternatives(anyOf as JsonSchema[], own, context)
    : ofTypes(
        types.filter((type) => type !== 'null'),
        own,
        context,
      );
  return { ...dialect, schema: { ...dialect.schema, ...orNull } };
}

/** Plain text and JSON text would be ambiguous, so if one alternative is JSON text, all text is. */
export function unambiguous(parts: Dialect[]): Dialect[] {
  if (!parts.some(({ restore }) => restore === fromJsonText)) return parts;
  return parts.map((part) =>
    part.restore === undefined && takesText(part.schema)
      ? { schema: withJsonText(part.schema), restore: fromJsonText }
      : part,
  );
}

function withJsonText(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: (anyOf as JsonSchema[]).map(withJsonText) };
  if (!takesText(schema)) return schema;
  const { shared } = partition(schema, [...SHARED, 'nullable']);
  return { type: 'STRING', ...withRemark(shared, 'as JSON text') };
}

/** Next to `anyOf`, only a title and a description are allowed. */
function withAlternatives(anyOf: JsonSchema[], own: JsonSchema, context: DialectContext): Dialect {
  const { shared, rest } = partition(own, SHARED);
  return { schema: withWords({ ...shared, anyOf }, rest, context), restore: undefined };
}

function ofTypes(types: string[], own: JsonSchema, context: DialectContext): Dialect {
  const [only] = types;
  if (types.length < 2) return ofType(only, own, context);
  const { shared, rest } = partition(own, SHARED);
  const each = types.map((type) => ofType(type, rest, context));
  const restore = types.includes('string') ? undefined : chainRestores(each.map((one) => one.restore));
  return { schema: { ...shared, anyOf: each.map((one) => one.schema) }, restore };
}

function ofType(type: string | undefined, own: JsonSchema, context: DialectContext): Dialect {
  if (type === undefined || (type === 'object' && isShapeless(own) && context.path !== ''))
    return asText(own, context);
  const { shared, rest } = partition(own, [...SHARED, ...(KEYWORDS[type] ?? [])]);
  const { enum: values, ...lost } = rest;
  const choices = type === 'string' && Array.isArray(values) ? choicesOfText(values) : {};
  const inWords = Array.isArray(values) && type !== 'string' ? { ...lost, enum: values as unknown[] } : lost;
  const isOpenArray = type === 'array' && !('items' in own);
  const items = isOpenArray
    ? { items: asText({}, { ...context, path: `${context.path}/items` }).schema }
    : {};
  const schema = { type: type.toUpperCase(), ...shared, ...choices, ...items };
  return { schema: withWords(schema, inWords, context), restore: isOpenArray ? fromJsonTexts : undefined };
}

function choicesOfText(values: unknown[]): JsonSchema {
  return { format: 'enum', enum: values.filter((value) => typeof value === 'string') };
}

function isShapeless({ properties }: JsonSchema): boolean {
  return Object.keys((properties as JsonSchema | undefined) ?? {}).length === 0;
}

/** The dialect has no type for arbitrary values, nor for objects with unknown properties. */
function asText(own: JsonSchema, { path, note }: DialectContext): Dialect {
  const { shared } = partition(own, SHARED);
  note(path, 'is passed as JSON text');
  return { schema: { type: 'STRING', ...withRemark(shared, 'as JSON text') }, restore: fromJsonText };
}

function fromJsonTexts(list: unknown): unknown {
  return Array.isArray(list) ? list.map(fromJsonText) : list;
}

function partition(
  schema: JsonSchema,
  keywords: readonly string[],
): { shared: JsonSchema; rest: JsonSchema } {
  const entries = Object.entries(schema);
  const isShared = ([keyword]: [string, unknown]): boolean => keywords.includes(keyword);
  return {
    shared: Object.fromEntries(entries.filter(isShared)),
    rest: Object.fromEntries(entries.filter((entry) => !isShared(entry))),
  };
}
