/**
 * JSON from a guest: well-formed UTF-8, bounded depth, no key twice, no number that is silently changed.
 * JSON.parse alone accepts all of these, and whoever reads the text with another parser then sees another value.
 *
 * @module
 */

export const MAX_JSON_DEPTH = 128;

export interface GuestJson {
  value: unknown;
  warnings: string[];
}

/** Sixteen digits, or an exponent: what has neither is a number that JavaScript holds as it was written. */
const SUSPECT_NUMBER = /\d{16}|\d[eE]/;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function parseGuestJson(bytes: Uint8Array): GuestJson {
  const text = utf8.decode(bytes);
  // The scan comes first: a nesting bomb must not reach a recursive parser.
  scanStructure(text);
  const warnings: string[] = [];
  // Looking at every value takes several times as long as parsing, and few texts have a number that needs it.
  if (!SUSPECT_NUMBER.test(text)) return { value: JSON.parse(text), warnings };
  const value: unknown = JSON.parse(text, (key, parsed: unknown, context?: { source?: string }) =>
    checkNumber(key, parsed, { source: context?.source, warnings }),
  );
  return { value, warnings };
}

interface NumberContext {
  source: string | undefined;
  warnings: string[];
}

function checkNumber(key: string, value: unknown, context: NumberContext): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new Error(`the number ${context.source?.slice(0, 40)} is out of range`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '')) {
    if (context.warnings.length < 5) {
      context.warnings.push(
        `The integer at "${key}" is beyond 2^53 and was rounded; return it as a string to keep every digit.`,
      );
    }
  }
  return value;
}

/** One pass over the text: depth and repeated keys. Syntax errors are left to JSON.parse. */
function scanStructure(text: string): void {
  const keys: (Set<string> | undefined)[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      const end = endOfString(text, at);
      if (expectKey) noteKey(keys.at(-1), text.slice(at, end + 1));
      expectKey = false;
      at = end;
    } else if (char === 0x7b || char === 0x5b) {
      keys.push(char === 0x7b ? new Set() : undefined);
      expectKey = char === 0x7b;
      if (keys.length > MAX_JSON_DEPTH) throw new Error(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    } else if (char === 0x7d || char === 0x5d) {
      keys.pop();
      expectKey = false;
    } else if (char === 0x2c) {
      expectKey = keys.at(-1) !== undefined;
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  throw new Error('a string without an end');
}

function noteKey(seen: Set<string> | undefined, raw: string): void {
  if (!seen) return;
  // Escapes can spell one key in two ways.
  const key = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
  if (seen.has(key)) throw new Error(`the key "${key.slice(0, 60)}" stands twice in one object`);
  seen.add(key);
}
