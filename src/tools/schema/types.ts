/**
 * The types that a schema allows.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';

/** `type` may be one type or a list. */
export function typeList(type: unknown): string[] {
  return Array.isArray(type) ? (type as string[]) : [type as string];
}

/** The declared types, or those inferred from other keywords; empty if any type is allowed. */
export function typesOf(schema: JsonSchema): string[] {
  const { type, enum: values, properties, items } = schema;
  if (type !== undefined) return typeList(type);
  if (Array.isArray(values)) return [...new Set((values as unknown[]).map(typeOf))];
  if ('const' in schema) return [typeOf(schema['const'])];
  if (properties !== undefined) return ['object'];
  return items === undefined ? [] : ['array'];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Adds the inferred type if none is declared. */
export function withType(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema);
  if (schema['type'] !== undefined || types.length === 0) return schema;
  return { ...schema, type: types.length === 1 ? types[0] : types };
}

/** Whether a string is valid, in any dialect. */
export function takesText({ type, anyOf }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(takesText);
  return type !== undefined && typeList(type).some((one) => one.toLowerCase() === 'string');
}
