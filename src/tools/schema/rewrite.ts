/**
 * From a plain schema to what one provider understands, and from the arguments that its model writes back to the
 * parameters of the skill. The rewritten schema may allow more than the skill does, which checks its parameters itself.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { withoutAllOf } from './merge.ts';
import { openApi, unambiguous } from './open-api.ts';
import { isSchema, type Note } from './plain.ts';
import { spelledNames } from './property-names.ts';
import { eachOf, restoreOthers, restoreProperties, type Restore, type RestoredProperty } from './restore.ts';
import type { SchemaRules } from './rules.ts';
import { assertStrictable, nullable, takesNull } from './strict.ts';
import { listed, takesText, typed } from './types.ts';
import { withRemark, withWords } from './words.ts';

export interface Rewritten {
  schema: JsonSchema;
  /** Undefined where the value stays as it is. */
  restore: Restore | undefined;
}

export interface RewriteOptions {
  rules: SchemaRules;
  note: Note;
}

/** Throws `NotStrict` where strict rules cannot say it. */
export function rewriteSchema(schema: JsonSchema, options: RewriteOptions): Rewritten {
  return new Rewriter(options).rewrite(schema, '');
}

class Rewriter {
  readonly #rules: SchemaRules;
  readonly #note: Note;

  constructor({ rules, note }: RewriteOptions) {
    this.#rules = rules;
    this.#note = note;
  }

  rewrite(original: JsonSchema, path: string): Rewritten {
    const schema = this.#inKnownKeywords(original);
    if (this.#rules.isStrict) assertStrictable(schema, path);
    const restores: (Restore | undefined)[] = [];
    const parts: JsonSchema = {};
    const lost: JsonSchema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (!this.#takes(keyword, value, path)) lost[keyword] = value;
      else if (keyword !== 'required')
        parts[keyword] = this.#part(keyword, value, { schema, path, restores });
    }
    const told = withWords({ ...parts, ...this.#required(schema, parts) }, lost, { path, note: this.#note });
    const finished = this.#rules.isOpenApi
      ? openApi(told, { path, note: this.#note })
      : { schema: told, restore: undefined };
    return { schema: finished.schema, restore: eachOf([...restores, finished.restore]) };
  }

  /** Says with keywords that the provider takes what can be said with them. */
  #inKnownKeywords(original: JsonSchema): JsonSchema {
    const takes = (keyword: string): boolean => this.#rules.keywords.has(keyword);
    let schema = takes('allOf') ? original : withoutAllOf(original);
    if (!takes('oneOf')) schema = renamed(schema, 'oneOf', 'anyOf');
    if (!takes('const') && 'const' in schema && !('enum' in schema))
      schema = renamed({ ...schema, const: [schema['const']] }, 'const', 'enum');
    if (!takes('exclusiveMinimum')) schema = alsoAs(schema, 'exclusiveMinimum', 'minimum');
    if (!takes('exclusiveMaximum')) schema = alsoAs(schema, 'exclusiveMaximum', 'maximum');
    schema = withoutPatterns(withoutPrefix(schema));
    return this.#rules.isStrict ? typed(schema) : schema;
  }

  #takes(keyword: string, value: unknown, path: string): boolean {
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
    const names = spelledNames(Object.keys(properties), this.#rules.propertyNames);
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
      const told = spelled === name ? own.schema : withRemark(own.schema, `named ${JSON.stringify(name)}`);
      return [spelled, isOptional ? nullable(told) : told] as const;
    });
    restores.push(restoreProperties(restored));
    return Object.fromEntries(entries);
  }

  #required(schema: JsonSchema, parts: JsonSchema): JsonSchema {
    const { isStrict, keywords, propertyNames } = this.#rules;
    const spelled = Object.keys((parts['properties'] as JsonSchema | undefined) ?? {});
    if (isStrict && listed(schema['type']).includes('object'))
      return { properties: parts['properties'] ?? {}, required: spelled, additionalProperties: false };
    const names = schema['required'] as string[] | undefined;
    if (!names || !keywords.has('required')) return {};
    const map = spelledNames(
      Object.keys((schema['properties'] as JsonSchema | undefined) ?? {}),
      propertyNames,
    );
    // A provider that reads the names of the properties takes no others.
    const required = names.map((name) => map.get(name)).filter((name) => name !== undefined);
    return required.length > 0 ? { required } : {};
  }
}

interface Use {
  schema: JsonSchema;
  path: string;
  restores: (Restore | undefined)[];
}

/** A value of alternatives is restored by all of them, unless it is text and one of them takes text as it is. */
function restoreAny(parts: Rewritten[]): Restore | undefined {
  const all = eachOf(parts.map(({ restore }) => restore));
  const hasText = parts.some(({ schema, restore }) => !restore && takesText(schema));
  return all && hasText ? (value) => (typeof value === 'string' ? value : all(value)) : all;
}

/** Another keyword that says a part of it. */
function alsoAs(schema: JsonSchema, from: string, to: string): JsonSchema {
  return from in schema && !(to in schema) ? { ...schema, [to]: schema[from] } : schema;
}

/** Another keyword for the same, or for less. */
function renamed(schema: JsonSchema, from: string, to: string): JsonSchema {
  if (!(from in schema) || to in schema) return schema;
  const { [from]: value, ...rest } = schema;
  return { ...rest, [to]: value };
}

/** Every item may be what the first ones may be. */
function withoutPrefix(schema: JsonSchema): JsonSchema {
  const { prefixItems, items, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  return { ...rest, items: items === undefined ? {} : { anyOf: [...(prefixItems as JsonSchema[]), items] } };
}

/** Names by pattern are additional ones to who knows no patterns, so those must not be refused. */
function withoutPatterns(schema: JsonSchema): JsonSchema {
  if (!('patternProperties' in schema) || !('additionalProperties' in schema)) return schema;
  const { additionalProperties: _closed, ...rest } = schema;
  return rest;
}
