/**
 * The parts of JSON Schema that each provider understands. Everything else is described in words, or omitted.
 *
 * @module
 */

export interface SchemaRules {
  /** Accepted keywords. */
  keywords: ReadonlySet<string>;
  /** Keywords accepted at the root, if fewer. */
  rootKeywords?: ReadonlySet<string>;
  /** Accepted property names; others are converted, and converted back in arguments. */
  propertyNames?: RegExp;
  /** Accepted string formats; absent if any is accepted. */
  formats?: ReadonlySet<string>;
  /** Every object is closed and every property required; optional properties may be null. */
  isStrict?: boolean;
  /** OpenAPI dialect: types in capitals, `nullable`, enums only for strings. */
  isOpenApi?: boolean;
}

/** Keywords that providers accept even where they hold a model to a schema. */
const STRICT_KEYWORDS = [
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
];

/** Common keywords, except those that refer to property names in other ways, such as patterns. */
const JSON_SCHEMA = [
  ...STRICT_KEYWORDS,
  'title',
  'default',
  'examples',
  'minProperties',
  'maxProperties',
  'uniqueItems',
  'minLength',
  'maxLength',
  'oneOf',
  'allOf',
];

/** Chat completions of OpenAI and compatible APIs. */
export const OPENAI_RULES: SchemaRules = { keywords: new Set(JSON_SCHEMA) };

/** OpenAI functions with `strict`: the model can only write arguments that match the schema. */
export const OPENAI_STRICT_RULES: SchemaRules = {
  keywords: new Set(STRICT_KEYWORDS),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
  isStrict: true,
};

const CLAUDE_PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

export const CLAUDE_RULES: SchemaRules = { keywords: new Set(JSON_SCHEMA), propertyNames: CLAUDE_PROPERTY };

/** The Converse API of Bedrock: some models accept no other keywords at the root. */
export const BEDROCK_RULES: SchemaRules = {
  keywords: new Set(JSON_SCHEMA),
  rootKeywords: new Set(['type', 'properties', 'required']),
  propertyNames: CLAUDE_PROPERTY,
};

/** The `Schema` type of Gemini, a subset of OpenAPI 3.0. */
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

/** Keywords that the Ollama server reads; it silently ignores all others. */
export const OLLAMA_RULES: SchemaRules = {
  keywords: new Set(['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf']),
};
