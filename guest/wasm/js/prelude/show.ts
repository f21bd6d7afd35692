/**
 * Values as short text for people; circular references end.
 *
 * @module
 */
const MAX_DEPTH = 4;
const MAX_ITEMS = 100;

export function show(value: unknown, depth: number = 0): string {
  switch (typeof value) {
    case 'string':
      return depth === 0 ? value : JSON.stringify(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return `[function ${value.name || '(anonymous)'}]`;
    case 'object':
      return value === null ? 'null' : showObject(value, depth);
    default:
      return String(value);
  }
}

function showObject(value: object, depth: number): string {
  if (value instanceof Error)
    return value.stack ? `${String(value)}\n${value.stack.trimEnd()}` : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (depth >= MAX_DEPTH) return Array.isArray(value) ? '[…]' : '{…}';
  const inner = (item: unknown): string => show(item, depth + 1);
  if (Array.isArray(value)) return `[${listed(value.map(inner))}]`;
  if (value instanceof Set) return `Set {${listed([...value].map(inner))}}`;
  if (value instanceof Map)
    return `Map {${listed([...value].map(([key, item]) => `${inner(key)} => ${inner(item)}`))}}`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return `${value.constructor.name} [${listed(Array.from(value as Uint8Array, String))}]`;
  return `{${listed(Object.entries(value).map(([key, item]) => `${key}: ${inner(item)}`))}}`;
}

function listed(items: string[]): string {
  const shown = items.slice(0, MAX_ITEMS).join(', ');
  return items.length > MAX_ITEMS ? `${shown}, … ${items.length - MAX_ITEMS} more` : shown;
}
