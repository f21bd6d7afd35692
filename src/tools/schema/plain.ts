/**
 * Reduces a schema to what all providers understand: no references, boolean schemas or identifiers. The result may be looser
 * than the original if that is recursive or very large, never stricter.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';

/** Reports a property or keyword that the provider does not get as written. */
export type Note = (path: string, what: string) => void;

/** References can multiply a schema; beyond this many parts, the rest accepts anything. */
const MAX_PARTS = 2000;
/** Total length of keywords and values: a long enum can be referenced a thousand times. */
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
/** Keywords that only serve references between schemas. */
const REFERENCE_KEYWORDS: ReadonlySet<string> = new Set([
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
/** Keywords next to a reference that add no condition. */
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
  return new SchemaReducer(schema, note).plain(schema, { path: '', within: [] });
}

interface Place {
  path: string;
  /** References being followed. */
  within: string[];
}

class SchemaReducer {
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
      return this.#open(place, 'the schema is too large and is passed in part');
    const own = this.#plainKeywords(schema, place);
    const { $ref, $dynamicRef } = schema;
    if ($dynamicRef !== undefined) this.#note(place.path, '$dynamicRef is omitted');
    if (typeof $ref !== 'string') return own;
    const target = this.#follow($ref, place);
    const isPlain = Object.keys(own).every((keyword) => ANNOTATIONS.has(keyword));
    return isPlain ? { ...target, ...own } : { allOf: [own, target] };
  }

  #plainKeywords(schema: JsonSchema, place: Place): JsonSchema {
    const entries = Object.entries(schema).filter(([keyword]) => !REFERENCE_KEYWORDS.has(keyword));
    const plain = entries.map(([keyword, value]) => [keyword, this.#keyword(keyword, value, place)] as const);
    return Object.fromEntries(plain.filter(([, value]) => value !== undefined));
  }

  #keyword(keyword: string, value: unknown, { path, within }: Place): unknown {
    const at = (key: string | number): Place => ({ path: `${path}/${keyword}/${key}`, within });
    if (LISTS.has(keyword) && Array.isArray(value)) return value.map((one, n) => this.plain(one, at(n)));
    if (MAPS.has(keyword) && isSchema(value)) {
      // `fromEntries` defines own properties, so `__proto__` is safe. Properties that are never allowed are omitted.
      const parts = Object.entries(value).filter(([, part]) => part !== false);
      return Object.fromEntries(parts.map(([key, part]) => [key, this.plain(part, at(key))]));
    }
    if (!SINGLE.has(keyword)) return value;
    if (keyword === 'additionalProperties' && typeof value === 'boolean') return value ? undefined : false;
    if (typeof value === 'boolean' && keyword !== 'not') return undefined;
    return this.plain(value, { path: `${path}/${keyword}`, within });
  }

  #follow(ref: string, place: Place): JsonSchema {
    if (place.within.includes(ref)) return this.#open(place, `${ref} refers to itself and is expanded once`);
    const target = this.#target(ref);
    if (target === undefined) return this.#open(place, `${ref} cannot be followed`);
    return this.plain(target, { path: place.path, within: [...place.within, ref] });
  }

  /** Resolves only paths. Anchors and ids are rare, and accepting anything is always correct. */
  #target(ref: string): unknown {
    if (ref !== '#' && !ref.startsWith('#/')) return undefined;
    let target: unknown = this.#root;
    for (const part of ref.split('/').slice(1)) {
      const key = unescapePointer(part);
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
    const isOwn = !SINGLE.has(keyword) && !LISTS.has(keyword) && !REFERENCE_KEYWORDS.has(keyword);
    return sum + keyword.length + (isOwn ? JSON.stringify(value).length : 0);
  }, 0);
}

/** Decodes a segment of a JSON pointer in a URI. */
function unescapePointer(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
