/**
 * Writes arguments as a model would that knows only the tool: with its spellings, nulls and JSON texts.
 *
 * @module
 */
import type { Schema } from './pairs.ts';

/** `value` matches `original`; for alternatives, it matches the first. */
export function asModelWrites(original: Schema, tool: Schema, value: unknown): unknown {
  const { allOf, anyOf } = original as { allOf?: Schema[]; anyOf?: Schema[] };
  if (isJsonText(tool)) return JSON.stringify(value);
  if (allOf?.[0]) return asModelWrites(allOf[0], (tool['allOf'] as Schema[] | undefined)?.[0] ?? tool, value);
  if (anyOf?.[0]) return asModelWrites(anyOf[0], firstOf(tool), value);
  if (Array.isArray(value)) return value.map((item) => asItem(original, tool, item));
  if (typeof value !== 'object' || value === null || !('properties' in original)) return value;
  return asObject(original, tool, value as Schema);
}

function asItem(original: Schema, tool: Schema, item: unknown): unknown {
  const { items } = tool as { items?: Schema };
  return items ? asModelWrites((original['items'] as Schema | undefined) ?? {}, items, item) : item;
}

function asObject(original: Schema, tool: Schema, value: Schema): Schema {
  const spelled = Object.entries(tool['properties'] as Record<string, Schema>);
  const known = Object.entries(original['properties'] as Record<string, Schema>).map(([name, schema], at) => {
    const [spelling, part] = spelled[at] as [string, Schema];
    if (Object.hasOwn(value, name)) return [[spelling, asModelWrites(schema, inner(part), value[name])]];
    const isRequired = (tool['required'] as string[] | undefined)?.includes(spelling);
    return isRequired && part ? [[spelling, null]] : [];
  });
  return Object.fromEntries(known.flat() as [string, unknown][]);
}

/** The schema without null, if an optional property became a required one. */
function inner(schema: Schema): Schema {
  const { anyOf } = schema as { anyOf?: Schema[] };
  const isWrapped =
    anyOf?.length === 2 && anyOf[1]?.['type'] === 'null' && Object.keys(anyOf[1]).length === 1;
  return isWrapped ? (anyOf[0] as Schema) : schema;
}

function firstOf(tool: Schema): Schema {
  return (tool['anyOf'] as Schema[] | undefined)?.[0] ?? tool;
}

function isJsonText({ type, description }: Schema): boolean {
  return type === 'STRING' && typeof description === 'string' && description.includes('as JSON text');
}

/** Converts the dialect of Gemini to JSON Schema. */
export function fromOpenApi(schema: Schema): Schema {
  const { type, nullable, format, anyOf, items, properties, ...rest } = schema;
  const parts = Object.entries((properties as Record<string, Schema> | undefined) ?? {});
  const own: Schema = {
    ...rest,
    ...(type === undefined ? {} : { type: (type as string).toLowerCase() }),
    ...(format === 'enum' ? {} : { format }),
    ...(items ? { items: fromOpenApi(items as Schema) } : {}),
    ...(properties
      ? { properties: Object.fromEntries(parts.map(([name, part]) => [name, fromOpenApi(part)])) }
      : {}),
    ...(anyOf ? { anyOf: (anyOf as Schema[]).map(fromOpenApi) } : {}),
  };
  const defined = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return nullable === true ? { anyOf: [defined, { type: 'null' }] } : defined;
}

/** Null for an absent value; for an optional property that accepts null, the two are indistinguishable. */
export function withoutAddedNulls(restored: unknown, value: unknown): unknown {
  if (Array.isArray(restored) && Array.isArray(value))
    return restored.map((item, at) => withoutAddedNulls(item, value[at]));
  if (typeof restored !== 'object' || restored === null || typeof value !== 'object' || value === null)
    return restored;
  const kept = Object.entries(restored).filter(([name, item]) => item !== null || Object.hasOwn(value, name));
  return Object.fromEntries(
    kept.map(([name, item]) => [name, withoutAddedNulls(item, (value as Schema)[name])]),
  );
}
