/**
 * Rewrites a plain schema for one provider, and converts the arguments of its model back to parameters of the skill. The
 * rewritten schema may allow more than the skill, which checks its parameters itself.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { withoutAllOf } from './merge.ts';
import { openApi, unambiguous } from './open-api.ts';
import { isSchema, type Note } from './plain.ts';
import { providerNames } from './property-names.ts';
import {
  chainRestores,
  restoreOthers,
  restoreProperties,
  type Restore,
  type RestoredProperty,
} from './restore.ts';
import type { SchemaRules } from './rules.ts';
import { assertStrictable, nullable, takesNull } from './strict.ts';
import { takesText, typeList, withType } from './types.ts';
import { withRemark, withWords } from './words.ts';

export interface RewrittenSchema {
  schema: JsonSchema;
  /** Undefined if the value needs no conversion. */
  restore: Restore | undefined;
}

export interface RewriteOptions {
  rules: SchemaRules;
  note: Note;
}

/** Throws `NotStrict` if strict rules cannot express the schema. */
export function rewriteSchema(schema: JsonSchema, options: RewriteOptions): RewrittenSchema {
  return new Rewriter(options).rewrite(schema, '');
}

class Rewriter {
  readonly #rules: SchemaRules;
  readonly #note: Note;

  constructor({ rules, note }: RewriteOptions) {
    this.#rules = rules;
    this.#note = note;
  }

  rewrite(original: JsonSchema, path: string): RewrittenSchema {
    const schema = this.#inKnownKeywords(original);
    if (this.#rules.isStrict) assertStrictable(schema, path);
    const restores: (Restore | undefined)[] = [];
    const parts: JsonSchema = {};
    const lost: JsonSchema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (!this.#accepts(keyword, value, path)) lost[keyword] = value;
      else if (keyword !== 'required')
        parts[keyword] = this.#part(keyword, value, { schema, path, restores });
    }
    const described = withWords({ ...parts, ...this.#required(schema, parts) }, lost, {
      path,
      note: this.#note,
    });
    const finished = this.#rules.isOpenApi
      ? openApi(described, { path, note: this.#note })
      : { schema: described, restore: undefined };
    return { schema: finished.schema, restore: chainRestores([...restores, finished.restore]) };
  }

  /** Replaces unsupported keywords with equivalent ones that the provider accepts. */
  #inKnownKeywords(original: JsonSchema): JsonSchema {
    const accepts = (keyword: string): boolean => this.#rules.keywords.has(keyword);
    let schema = accepts('allOf') ? original : withoutAllOf(original);
    if (!accepts('oneOf')) schema = renameKeyword(schema, 'oneOf', 'anyOf');
    if (!accepts('const') && 'const' in schema && !('enum' in schema))
      schema = renameKeyword({ ...schema, const: [schema['const']] }, 'const', 'enum');
    if (!accepts('exclusiveMinimum')) schema = copyKeyword(schema, 'exclusiveMinimum', 'minimum');
    if (!accepts('exclusiveMaximum')) schema = copyKeyword(schema, 'exclusiveMaximum', 'maximum');
    schema = withoutPatterns(withoutPrefixItems(schema));
    return this.#rules.isStrict ? withType(schema) : schema;
  }

  #accepts(keyword: string, value: unknown, path: string): boolean {
    const { keywords, rootKeywords, formats } = this.#rules;
    if (path === '' && rootKeywords && !rootKeywords.has(keyword)) return false;
    if (keyword === 'format' && formats && !formats.has(value as string)) return false;
    return keywords.has(keyword);
  }

  #part(keyword: string, value: unknown, use: Use): unknown {
    const path = `${use.path}/${keyword}`;
    if (keyword === 'properties') return this.#properties(value as Record<string, JsonSchema>, use);
    if (keyword === 'additionalProperties' && isSchema(value)) {
      const { schema, restore } = this.rewrite(value, path);
      use.restores.push(restore && restoreOthers(use.schema, restore));
      return schema;
    }
    if (keyword === 'items' && isSchema(value)) {
      const { schema, restore } = this.rewrite(value, path);
      use.restores.push(restore && ((list) => (Array.isArray(list) ? list.map(restore) : list)));
      return schema;
    }
    if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf') {
      const each = (value as JsonSchema[]).map((one, n) => this.rewrite(one, `${path}/${n}`));
      const parts = this.#rules.isOpenApi ? unambiguous(each) : each;
      use.restores.push(restoreAny(parts));
      return parts.map(({ schema }) => schema);
    }
    return value;
  }

  #properties(properties: Record<string, JsonSchema>, { schema, path, restores }: Use): JsonSchema {
    const { isStrict } = this.#rules;
    const required = new Set((schema['required'] as string[] | undefined) ?? []);
    const names = providerNames(Object.keys(properties), this.#rules.propertyNames);
    const restored = new Map<string, RestoredProperty>();
    const entries = Object.entries(properties).map(([name, property]) => {
      const own = this.rewrite(property, `${path}/properties/${name}`);
      const spelled = names.get(name) ?? name;
      const isOptional = isStrict === true && !required.has(name);
      restored.set(spelled, {
        name,
        restore: own.restore,
        dropsNull: isOptional && !takesNull(property),
      });
      const described =
        spelled === name ? own.schema : withRemark(own.schema, `named ${JSON.stringify(name)}`);
      return [spelled, isOptional ? nullable(described) : described] as const;
    });
    restores.push(restoreProperties(restored));
    return Object.fromEntries(entries);
  }

  #required(schema: JsonSchema, parts: JsonSchema): JsonSchema {
    const { isStrict, keywords, propertyNames } = this.#rules;
    const spelled = Object.keys((parts['properties'] as JsonSchema | undefined) ?? {});
    if (isStrict && typeList(schema['type']).includes('object'))
      return { properties: parts['properties'] ?? {}, required: spelled, additionalProperties: false };
    const names = schema['required'] as string[] | undefined;
    if (!names || !keywords.has('required')) return {};
    const map = providerNames(
      Object.keys((schema['properties'] as JsonSchema | undefined) ?? {}),
      propertyNames,
    );
    // Providers reject required names that are not among the properties.
    const required = names.map((name) => map.get(name)).filter((name) => name !== undefined);
    return required.length > 0 ? { required } : {};
  }
}

interface Use {
  schema: JsonSchema;
  path: string;
  restores: (Restore | undefined)[];
}

/** Applies the conversions of all alternatives, unless the value is text and one alternative accepts plain text. */
function restoreAny(parts: RewrittenSchema[]): Restore | undefined {
  const all = chainRestores(parts.map(({ restore }) => restore));
  const hasText = parts.some(({ schema, restore }) => !restore && takesText(schema));
  return all && hasText ? (value) => (typeof value === 'string' ? value : all(value)) : all;
}

/** Adds another keyword that expresses part of the same condition. */
function copyKeyword(schema: JsonSchema, from: string, to: string): JsonSchema {
  return from in schema && !(to in schema) ? { ...schema, [to]: schema[from] } : schema;
}

/** Replaces a keyword with one that expresses the same or less. */
function renameKeyword(schema: JsonSchema, from: string, to: string): JsonSchema {
  if (!(from in schema) || to in schema) return schema;
  const { [from]: value, ...rest } = schema;
  return { ...rest, [to]: value };
}

/** Lets every item be what any of the first ones may be. */
function withoutPrefixItems(schema: JsonSchema): JsonSchema {
  const { prefixItems, items, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  return { ...rest, items: items === undefined ? {} : { anyOf: [...(prefixItems as JsonSchema[]), items] } };
}

/** Without patterns, names that match one count as additional, so additional properties must be allowed. */
function withoutPatterns(schema: JsonSchema): JsonSchema {
  if (!('patternProperties' in schema) || !('additionalProperties' in schema)) return schema;
  const { additionalProperties: _closed, ...rest } = schema;
  return rest;
}
