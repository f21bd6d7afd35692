/**
 * JSON with sorted keys and no spaces: equal values give equal text, and so equal digests.
 *
 * @module
 */
import { hash } from 'node:crypto';

/** The value as JSON text with keys in code-unit order. Like JSON.stringify otherwise. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const record = value as Record<string, unknown>;
  let members = '';
  for (const key of Object.keys(record).sort()) {
    if (record[key] === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(record[key])}`;
  }
  return `{${members}}`;
}

/** `sha256:` and the hex digest of the value's canonical JSON. */
export function digestJson(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value), 'hex')}`;
}
