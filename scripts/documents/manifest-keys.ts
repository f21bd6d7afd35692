/**
 * Every key that a manifest can have, from the schema that validates it.
 *
 * @module
 */
import { z } from 'zod';
import { manifestFields } from '../../src/manifest/fields.ts';

export interface ManifestKey {
  /** `capabilities.network[].host`, `env_vars.NAME.secret`. */
  path: string;
  /** The allowed values, as text. */
  value: string;
  isRequired: boolean;
  /** As JSON; absent if the schema has none. */
  fallback?: string;
}

/** The part of JSON Schema that our own schema produces. */
interface Schema {
  type?: string | string[];
  enum?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  required?: string[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

export function manifestKeys(): ManifestKey[] {
  return keysOf(z.toJSONSchema(manifestFields, { io: 'input', unrepresentable: 'any' }) as Schema, '');
}

function keysOf(schema: Schema, prefix: string): ManifestKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const path = `${prefix}${key}`;
    const own: ManifestKey = {
      path,
      value: wordsFor(part),
      isRequired: schema.required?.includes(key) ?? false,
      ...(part.default === undefined ? {} : { fallback: JSON.stringify(part.default) }),
    };
    return [own].concat(keysBelow(part, path));
  });
}

function keysBelow(part: Schema, path: string): ManifestKey[] {
  const named = part.additionalProperties;
  return [
    ...keysOf(part, `${path}.`),
    ...(part.items ? keysBelow(part.items, `${path}[]`) : []),
    ...(part.anyOf ?? []).flatMap((choice) => keysBelow(choice, path)),
    ...(named && named.properties ? keysBelow(named, `${path}.NAME`) : []),
  ];
}

function wordsFor(schema: Schema): string {
  if (schema.anyOf) return listed(schema.anyOf.filter(({ type }) => type !== 'null').map(wordsFor));
  if (schema.enum) return listed(schema.enum.map((word) => `\`${word}\``));
  if (Array.isArray(schema.type)) return 'amount with a unit';
  if (schema.type === 'array') return `list of ${wordsFor(schema.items ?? {})}`;
  if (schema.type === 'integer') return `${schema.minimum} to ${schema.maximum}`;
  return { string: 'text', object: 'map', boolean: 'true or false' }[schema.type ?? ''] ?? 'anything';
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
