/**
 * What each provider understands of JSON Schema, as a table. Whatever is not in it is told in words, or left out.
 *
 * @module
 */

export interface SchemaRules {
  /** Keywords that the provider takes. */
  keywords: ReadonlySet<string>;
  /** Those it takes at the root, where it takes fewer. */
  rootKeywords?: ReadonlySet<string>;
  /** Names of properties that it takes; others are spelled differently and turned back. */
  propertyNames?: RegExp;
  /** Formats of text that it takes; absent: any. */
  formats?: ReadonlySet<string>;
  /** Every object is closed and every property required; what was optional may be null. */
  isStrict?: boolean;
  /** The dialect of OpenAPI: types in capitals, `nullable`, choices of text alone. */
  isOpenApi?: boolean;
}

/** What any JSON Schema says about a value, without what refers to names of properties by other means. */
const JSON_SCHEMA = [
  'type',
  'title',
  'description',
  'default',
  'examples',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'minProperties',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'anyOf',
  'oneOf',
  'allOf',
];

/** Chat completions of OpenAI and of those who speak its language. */
export const OPENAI_RULES: SchemaRules = { keywords: new Set(JSON_SCHEMA) };

/** Functions of OpenAI with `strict`: the model cannot write what does not fit. */
export const OPENAI_STRICT_RULES: SchemaRules = {
  keywords: new Set([
    'type',
    'description',
    'enum',
    'const',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
    'maxItems',
    'pattern',
    'format',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'anyOf',
  ]),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
  isStrict: true,
};

const CLAUDE_PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

export const CLAUDE_RULES: SchemaRules = { keywords: new Set(JSON_SCHEMA), propertyNames: CLAUDE_PROPERTY };

/** Converse of Bedrock: some of its models take nothing else at the root. */
export const BEDROCK_RULES: SchemaRules = {
  keywords: new Set(JSON_SCHEMA),
  rootKeywords: new Set(['type', 'properties', 'required']),
  propertyNames: CLAUDE_PROPERTY,
};

/** The `Schema` of Gemini, which is a part of OpenAPI 3.0. */
export const GEMINI_RULES: SchemaRules = {
  keywords: new Set([
    'type',
    'title',
    'description',
    'nullable',
    'enum',
    'format',
    'properties',
    'required',
    'items',
    'minItems',
    'maxItems',
    'minLength',
    'maxLength',
    'pattern',
    'minimum',
    'maximum',
    'anyOf',
  ]),
  propertyNames: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  formats: new Set(['date-time']),
  isOpenApi: true,
};

/** What the server of Ollama reads; it passes over the rest in silence. */
export const OLLAMA_RULES: SchemaRules = {
  keywords: new Set(['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf']),
};
