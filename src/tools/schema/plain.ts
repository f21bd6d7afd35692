/**
 * A schema without references, boolean schemas and addresses: what providers understand alike. It may be looser than
 * the original where that goes in circles or grows without end, and never stricter.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';

/** A property or keyword that a provider does not get as the author wrote it. */
export type Note = (path: string, what: string) => void;

/** References can multiply a schema; beyond so many parts the rest is left open. */
const MAX_PARTS = 2000;
/** What parts say besides parts of their own; a long list of values can be referred to a thousand times. */
export const MAX_CHARACTERS: number = 256 * 1024;

const SINGLE: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Of use only where schemas refer to each other. */
const ADDRESSES: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$comment',
  '$vocabulary',
  '$defs',
  'definitions',
  '$ref',
]);
/** What may stand beside a reference without adding a condition. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function plainSchema(schema: JsonSchema, note: Note): JsonSchema {
  return new Plainer(schema, note).plain(schema, { path: '', within: [] });
}

interface Place {
  path: string;
  /** References that are being followed. */
  within: string[];
}

class Plainer {
  readonly #root: JsonSchema;
  readonly #note: Note;
  #parts = 0;
  #characters = 0;

  constructor(root: JsonSchema, note: Note) {
    this.#root = root;
    this.#note = note;
  }

  plain(schema: unknown, place: Place): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isSchema(schema)) return {};
    this.#characters += charactersOf(schema);
    if (++this.#parts > MAX_PARTS || this.#characters > MAX_CHARACTERS)
      return this.#open(place, 'the schema is too large to be told whole');
    const own = this.#parted(schema, place);
    const { $ref, $dynamicRef } = schema;
    if ($dynamicRef !== undefined) this.#note(place.path, '$dynamicRef is left out');
    if (typeof $ref !== 'string') return own;
    const target = this.#follow($ref, place);
    const isPlain = Object.keys(own).every((keyword) => ANNOTATIONS.has(keyword));
    return isPlain ? { ...target, ...own } : { allOf: [own, target] };
  }

  #parted(schema: JsonSchema, place: Place): JsonSchema {
    const entries = Object.entries(schema).filter(([keyword]) => !ADDRESSES.has(keyword));
    const plain = entries.map(([keyword, value]) => [keyword, this.#keyword(keyword, value, place)] as const);
    return Object.fromEntries(plain.filter(([, value]) => value !== undefined));
  }

  #keyword(keyword: string, value: unknown, { path, within }: Place): unknown {
    const at = (key: string | number): Place => ({ path: `${path}/${keyword}/${key}`, within });
    if (LISTS.has(keyword) && Array.isArray(value)) return value.map((one, n) => this.plain(one, at(n)));
    if (MAPS.has(keyword) && isSchema(value)) {
      // `fromEntries` makes own properties of all names, `__proto__` too. What may never be there is not told.
      const parts = Object.entries(value).filter(([, part]) => part !== false);
      return Object.fromEntries(parts.map(([key, part]) => [key, this.plain(part, at(key))]));
    }
    if (!SINGLE.has(keyword)) return value;
    if (keyword === 'additionalProperties' && typeof value === 'boolean') return value ? undefined : false;
    if (typeof value === 'boolean' && keyword !== 'not') return undefined;
    return this.plain(value, { path: `${path}/${keyword}`, within });
  }

  #follow(ref: string, place: Place): JsonSchema {
    if (place.within.includes(ref)) return this.#open(place, `${ref} refers to itself and is told once`);
    const target = this.#target(ref);
    if (target === undefined) return this.#open(place, `${ref} cannot be followed`);
    return this.plain(target, { path: place.path, within: [...place.within, ref] });
  }

  /** By a path alone; an anchor or an address of its own is rare, and open is always right. */
  #target(ref: string): unknown {
    if (ref !== '#' && !ref.startsWith('#/')) return undefined;
    let target: unknown = this.#root;
    for (const part of ref.split('/').slice(1)) {
      const key = unescaped(part);
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined;
      target = (target as JsonSchema)[key];
      if (isSchema(target) && '$id' in target) return undefined;
    }
    return isSchema(target) || typeof target === 'boolean' ? target : undefined;
  }

  #open({ path }: Place, what: string): JsonSchema {
    this.#note(path, what);
    return {};
  }
}

function charactersOf(schema: JsonSchema): number {
  return Object.entries(schema).reduce((sum, [keyword, value]) => {
    if (MAPS.has(keyword) && isSchema(value)) return sum + Object.keys(value).join().length;
    const isOwn = !SINGLE.has(keyword) && !LISTS.has(keyword) && !ADDRESSES.has(keyword);
    return sum + keyword.length + (isOwn ? JSON.stringify(value).length : 0);
  }, 0);
}

/** Of a JSON pointer in a URI. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
