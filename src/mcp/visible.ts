/**
 * Text of strangers that a model reads: nothing in it that a person who looks at it would not see.
 *
 * @module
 */
import { printable } from '../index.ts';

/** Characters without a shape of their own that the general rule does not know. Joiners stay: scripts need them. */
const UNSEEN = /(?![\u200c\u200d])\p{Cf}/gu;

export function visibleText(text: string): string {
  return printable(text, { keepsJoiners: true }).replaceAll(UNSEEN, '\ufffd');
}

/** The same of what a schema says in words; what it means stays as it is. */
export function visibleSchema<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(visibleSchema) as T;
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    const isProse = (key === 'description' || key === 'title') && typeof value === 'string';
    return [key, isProse ? visibleText(value) : visibleSchema(value)];
  });
  return Object.fromEntries(entries) as T;
}
