/**
 * Encodes a value for the place of its placeholder, so that it is read back as exactly that value: a value with `&`, `"` or
 * a line break must not become a second field.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';

export type Place = 'path' | 'query' | 'header' | 'json' | 'raw';

// oxlint-disable-next-line no-control-regex -- a tab is the one control character that a header may have
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** One character per byte. `found` is the placeholder as written: an encoded one is replaced by an encoded value. */
export function spelledFor(place: Place, { value, found }: { value: string; found: string }): string {
  if (found.includes('\\u') || place === 'json') return bytesOf(JSON.stringify(value).slice(1, -1));
  if (place === 'path') return encodeURIComponent(value).replaceAll('%3A', ':');
  if (found.includes('%') || place === 'query') return encodeURIComponent(value);
  const bytes = bytesOf(value);
  if (place === 'header' && !FIELD_VALUE.test(bytes)) {
    throw new BrokerRefusal('inval', 'the secret has characters that a header cannot contain');
  }
  return bytes;
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
