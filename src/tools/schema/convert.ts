/**
 * Converts the parameters of a skill to a provider's schema, and arguments back to parameters.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import { objectRoot } from './merge.ts';
import { plainSchema, type Note } from './plain.ts';
import { rewriteSchema, type RewrittenSchema } from './rewrite.ts';
import { OPENAI_RULES, OPENAI_STRICT_RULES, type SchemaRules } from './rules.ts';
import { assertWithinLimits, NotStrict } from './strict.ts';

/** Undefined if the parameters are not an object, so that the skill cannot be a tool. */
export function convertSchema(
  schema: JsonSchema,
  { rules, note }: { rules: SchemaRules; note: Note },
): RewrittenSchema | undefined {
  const root = objectRoot(plainSchema(schema, note));
  return root && rewriteSchema(root, { rules, note });
}

/** Uses `strict` if possible; otherwise a note gives the reason. */
export function convertForOpenAi(
  schema: JsonSchema,
  note: Note,
): (RewrittenSchema & { strict: boolean }) | undefined {
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

/** Keywords whose value maps names to schemas. */
const SCHEMA_MAPS = ['properties', '$defs', 'patternProperties', 'dependentSchemas'] as const;

/**
 * For MCP, which accepts any JSON Schema: an object at the root, and no boolean schemas, because some clients reject all
 * tools if one has them.
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
