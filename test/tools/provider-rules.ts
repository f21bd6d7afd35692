/**
 * The rules of each provider, written independently of the source: lists every violation in a schema.
 *
 * @module
 */
import type { ToolFormat } from '../../src/index.ts';
import type { Schema } from './pairs.ts';

interface Rules {
  /** Keywords allowed anywhere. */
  keywords: readonly string[];
  root?: readonly string[];
  names?: RegExp;
  types: readonly string[];
  check?: (schema: Schema, path: string) => string[];
}

const JSON_TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
const SHAPE = ['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf'];
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const USUAL = [
  ...SHAPE,
  ...NUMBERS,
  ...['title', 'default', 'examples', 'const', 'oneOf', 'allOf', 'additionalProperties'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minProperties', 'maxProperties'],
];

export const RULES: Record<Exclude<ToolFormat, 'mcp'> | 'openai-strict', Rules> = {
  openai: { keywords: USUAL, types: JSON_TYPES },
  deepseek: { keywords: USUAL, types: JSON_TYPES },
  'openai-strict': {
    keywords: [
      ...SHAPE,
      ...NUMBERS,
      'const',
      'additionalProperties',
      'minItems',
      'maxItems',
      'pattern',
      'format',
    ],
    types: JSON_TYPES,
    check: strictBreaches,
  },
  claude: { keywords: USUAL, types: JSON_TYPES, names: /^[a-zA-Z0-9_.-]{1,64}$/ },
  bedrock: {
    keywords: USUAL,
    root: ['type', 'properties', 'required'],
    types: JSON_TYPES,
    names: /^[a-zA-Z0-9_.-]{1,64}$/,
  },
  ollama: { keywords: SHAPE, types: JSON_TYPES },
  gemini: {
    keywords: [
      ...SHAPE,
      ...['title', 'nullable', 'format', 'minimum', 'maximum'],
      ...['minItems', 'maxItems', 'minLength', 'maxLength', 'pattern'],
    ],
    types: ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'],
    names: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    check: geminiBreaches,
  },
};

export function breaches(schema: Schema, rules: Rules): string[] {
  const alternatives = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].filter((keyword) => keyword in schema);
  const root = rules.root ? Object.keys(schema).filter((keyword) => !rules.root?.includes(keyword)) : [];
  return [
    ...(String(schema['type']).toLowerCase() === 'object' ? [] : ['the root is not an object']),
    ...[...alternatives, ...root].map((keyword) => `${keyword} at the root`),
    ...breachesBelow(schema, rules, ''),
  ];
}

function breachesBelow(schema: Schema, rules: Rules, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [`${path} is not an object`];
  const own = Object.keys(schema).filter((keyword) => !rules.keywords.includes(keyword));
  const types = [schema['type'] ?? []].flat().filter((type) => !rules.types.includes(type as string));
  const properties = Object.entries((schema['properties'] as Schema | undefined) ?? {});
  const badNames = properties.filter(([name]) => rules.names && !rules.names.test(name));
  const undeclared = ((schema['required'] as string[] | undefined) ?? []).filter(
    (name) => !properties.some(([known]) => known === name),
  );
  const parts = [
    ...properties.map(([name, part]) => [`${path}/${name}`, part] as const),
    ...['items', 'additionalProperties']
      .filter((key) => key in schema && schema[key] !== false)
      .map((key) => [`${path}/${key}`, schema[key]] as const),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((key) =>
      ((schema[key] as Schema[] | undefined) ?? []).map(
        (part, at) => [`${path}/${key}/${at}`, part] as const,
      ),
    ),
  ];
  return [
    ...own.map((keyword) => `${path}: ${keyword}`),
    ...types.map((type) => `${path}: type ${JSON.stringify(type)}`),
    ...badNames.map(([name]) => `${path}: property ${name}`),
    ...undeclared.map((name) => `${path}: requires ${name}, which is not declared`),
    ...(rules.check?.(schema, path) ?? []),
    ...parts.flatMap(([at, part]) => breachesBelow(part as Schema, rules, at)),
  ];
}

function strictBreaches(schema: Schema, path: string): string[] {
  const types = [schema['type'] ?? []].flat();
  const names = Object.keys((schema['properties'] as Schema | undefined) ?? {});
  const isObject = types.includes('object');
  return [
    ...(types.length > 0 || 'anyOf' in schema ? [] : [`${path}: no type`]),
    ...(isObject && schema['additionalProperties'] !== false ? [`${path}: is open`] : []),
    ...(isObject && names.some((name) => !(schema['required'] as string[]).includes(name))
      ? [`${path}: optional`]
      : []),
    ...(types.includes('array') && !('items' in schema) ? [`${path}: no items`] : []),
  ];
}

function geminiBreaches(schema: Schema, path: string): string[] {
  const { type, format, enum: choices, properties, items, anyOf } = schema as { type?: string } & Schema;
  const formats: Record<string, unknown[]> = { STRING: ['enum', 'date-time'] };
  return [
    ...((type === undefined) === (anyOf === undefined) ? [`${path}: needs one of type and anyOf`] : []),
    ...(Array.isArray(type) ? [`${path}: several types`] : []),
    ...(format !== undefined && !formats[String(type)]?.includes(format)
      ? [`${path}: format ${JSON.stringify(format)}`]
      : []),
    ...(choices !== undefined && (type !== 'STRING' || format !== 'enum')
      ? [`${path}: choices of ${String(type)}`]
      : []),
    ...(((choices as unknown[] | undefined) ?? []).every((one) => typeof one === 'string')
      ? []
      : [`${path}: choices`]),
    ...(type === 'OBJECT' && Object.keys((properties as Schema | undefined) ?? {}).length === 0
      ? [`${path}: empty`]
      : []),
    ...(type === 'ARRAY' && items === undefined ? [`${path}: no items`] : []),
  ];
}
