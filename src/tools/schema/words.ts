/**
 * Adds conditions that a provider's schema cannot express to the description, which the model also reads.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import type { Note } from './plain.ts';

/** Keywords that are short and simple enough for a description. */
const DESCRIBABLE: ReadonlySet<string> = new Set([
  'default',
  'enum',
  'const',
  'examples',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'dependentRequired',
]);
const MAX_VALUE = 200;
/** Keywords that do not help a model; the same applies to a value of `false`. */
const IRRELEVANT: ReadonlySet<string> = new Set(['title', 'deprecated', 'readOnly', 'writeOnly']);

/** Adds the lost keywords to the description of the schema. */
export function withWords(
  schema: JsonSchema,
  lost: JsonSchema,
  { path, note }: { path: string; note: Note },
): JsonSchema {
  const words: string[] = [];
  for (const [keyword, value] of Object.entries(lost)) {
    if (IRRELEVANT.has(keyword) || value === false) continue;
    const json = JSON.stringify(value);
    const isDescribed = DESCRIBABLE.has(keyword) && json.length <= MAX_VALUE;
    if (isDescribed) words.push(`${keyword}: ${json}`);
    note(path, `${keyword} is ${isDescribed ? 'moved to the description' : 'omitted'}`);
  }
  return words.length === 0 ? schema : withRemark(schema, words.join(', '));
}

export function withRemark(schema: JsonSchema, remark: string): JsonSchema {
  const { description } = schema;
  const text = typeof description === 'string' ? description.trim() : '';
  return { ...schema, description: text === '' ? remark : `${text} (${remark})` };
}
