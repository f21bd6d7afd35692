/**
 * The parameters of a skill as a provider's schema, and its arguments back as parameters.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { objectRoot } from './merge.ts';
import { plainSchema, type Note } from './plain.ts';
import { rewriteSchema, type Rewritten } from './rewrite.ts';
import { OPENAI_RULES, OPENAI_STRICT_RULES, type SchemaRules } from './rules.ts';
import { assertWithinLimits, NotStrict } from './strict.ts';

/** Undefined when the skill takes no object, and so cannot be a tool. */
export function convertSchema(
  schema: JsonSchema,
  { rules, note }: { rules: SchemaRules; note: Note },
): Rewritten | undefined {
  const root = objectRoot(plainSchema(schema, note));
  return root && rewriteSchema(root, { rules, note });
}

/** With `strict` where that is possible; a note says why where it is not. */
export function convertForOpenAi(
  schema: JsonSchema,
  note: Note,
): (Rewritten & { strict: boolean }) | undefined {
  const remarks: Parameters<Note>[] = [];
  try {
    const strict = convertSchema(schema, {
      rules: OPENAI_STRICT_RULES,
      note: (...remark) => {
        remarks.push(remark);
      },
    });
    if (!strict) return undefined;
    assertWithinLimits(strict.schema);
    for (const remark of remarks) note(...remark);
    return { ...strict, strict: true };
  } catch (error) {
    if (!(error instanceof NotStrict)) throw error;
    note('', `not strict: ${error.message}`);
    const loose = convertSchema(schema, { rules: OPENAI_RULES, note });
    return loose && { ...loose, strict: false };
  }
}

/** Keywords that hold schemas, by how they hold them. */
const SCHEMA_MAPS = ['properties', '$defs', 'patternProperties', 'dependentSchemas'] as const;

/**
 * For MCP, which takes any JSON Schema: an object at the root, and no boolean where clients expect objects, because some
 * of them refuse all tools for one such schema.
 */
export function objectSchema(schema: JsonSchema): JsonSchema & { type: 'object' } {
  const maps = SCHEMA_MAPS.filter(
    (keyword) => typeof schema[keyword] === 'object' && schema[keyword] !== null,
  );
  const plain = maps.map((keyword) => {
    const entries = Object.entries(schema[keyword] as JsonSchema);
    return [
      keyword,
      Object.fromEntries(entries.map(([name, value]) => [name, withoutBoolean(value)])),
    ] as const;
  });
  return { ...schema, ...Object.fromEntries(plain), type: 'object' };
}

function withoutBoolean(schema: unknown): unknown {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  return schema;
}
