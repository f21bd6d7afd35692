/**
 * What a provider's schema cannot say, said in the description: the model reads that too.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';
import type { Note } from './plain.ts';

/** What a person would say in the same breath; the rest is too long or too involved. */
const TELLABLE: ReadonlySet<string> = new Set([
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
/** Say nothing to a model; nor does that there is nothing beside what is named. */
const SILENT: ReadonlySet<string> = new Set(['title', 'deprecated', 'readOnly', 'writeOnly']);

/** The schema with what was lost of it in its description. */
export function withWords(
  schema: JsonSchema,
  lost: JsonSchema,
  { path, note }: { path: string; note: Note },
): JsonSchema {
  const words: string[] = [];
  for (const [keyword, value] of Object.entries(lost)) {
    if (SILENT.has(keyword) || value === false) continue;
    const json = JSON.stringify(value);
    const isTold = TELLABLE.has(keyword) && json.length <= MAX_VALUE;
    if (isTold) words.push(`${keyword}: ${json}`);
    note(path, `${keyword} is ${isTold ? 'told in the description' : 'left out'}`);
  }
  return words.length === 0 ? schema : withRemark(schema, words.join(', '));
}

export function withRemark(schema: JsonSchema, remark: string): JsonSchema {
  const { description } = schema;
  const text = typeof description === 'string' ? description.trim() : '';
  return { ...schema, description: text === '' ? remark : `${text} (${remark})` };
}
