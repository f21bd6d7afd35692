/**
 * Which types a schema is about.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';

/** `type` may be one or several. */
export function listed(type: unknown): string[] {
  return Array.isArray(type) ? (type as string[]) : [type as string];
}

/** As said, or as can be seen from the rest; empty where it may be anything. */
export function typesOf(schema: JsonSchema): string[] {
  const { type, enum: values, properties, items } = schema;
  if (type !== undefined) return listed(type);
  if (Array.isArray(values)) return [...new Set((values as unknown[]).map(typeOf))];
  if ('const' in schema) return [typeOf(schema['const'])];
  if (properties !== undefined) return ['object'];
  return items === undefined ? [] : ['array'];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** With its type written down, where that can be seen and is not. */
export function typed(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema);
  if (schema['type'] !== undefined || types.length === 0) return schema;
  return { ...schema, type: types.length === 1 ? types[0] : types };
}

/** In any dialect. */
export function takesText({ type, anyOf }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(takesText);
  return type !== undefined && listed(type).some((one) => one.toLowerCase() === 'string');
}
