/**
 * Removes characters from untrusted text that a model would read but a person would not see.
 *
 * @module
 */
import { printable } from '../inside.ts';

/** Format characters that `printable` does not cover. Joiners stay, because some scripts need them. */
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu;

export function visibleText(text: string): string {
  return printable(text, { keepsJoiners: true }).replaceAll(INVISIBLE, '\ufffd');
}

/** Cleans the titles and descriptions of a schema; everything else stays unchanged. */
export function visibleSchema<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(visibleSchema) as T;
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    const isProse = (key === 'description' || key === 'title') && typeof value === 'string';
    return [key, isProse ? visibleText(value) : visibleSchema(value)];
  });
  return Object.fromEntries(entries) as T;
}
