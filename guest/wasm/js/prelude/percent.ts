/**
 * Percent-encoding as in the URL standard: each part of a URL has its own set of characters to encode.
 *
 * @module
 */
const C0 = '';
const QUERY = ' "#<>';
const PATH = `${QUERY}?^\`{}`;
const USERINFO = `${PATH}/:;=@[\\]|`;

type Part = 'c0' | 'fragment' | 'query' | 'specialQuery' | 'path' | 'userinfo';

/** Characters that each part encodes, in addition to control characters and non-ASCII ones. */
export const ENCODE_SETS: Readonly<Record<Part, ReadonlySet<string>>> = {
  c0: new Set(C0),
  fragment: new Set(' "<>`'),
  query: new Set(QUERY),
  specialQuery: new Set(`${QUERY}'`),
  path: new Set(PATH),
  userinfo: new Set(USERINFO),
};

const HEX_RUN = /(?:%[0-9a-f]{2})+/gi;
const REPLACEMENT = '\ufffd';

export function percentEncode(text: string, set: ReadonlySet<string>): string {
  let encoded = '';
  for (const letter of text.toWellFormed()) {
    const code = letter.codePointAt(0) as number;
    if (code > 0x1f && code < 0x7f) encoded += set.has(letter) ? hex(code) : letter;
    else encoded += code < 0x80 ? hex(code) : encodeURIComponent(letter);
  }
  return encoded;
}

function hex(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Bytes that are not valid UTF-8 become U+FFFD. */
export function percentDecode(text: string): string {
  return text.replaceAll(HEX_RUN, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return decodeLossy(
        run
          .split('%')
          .slice(1)
          .map((byte) => Number.parseInt(byte, 16)),
      );
    }
  });
}

/** Lowest and highest second byte of a sequence, by its first byte. */
function secondByte(first: number): [low: number, high: number] {
  if (first === 0xe0) return [0xa0, 0xbf];
  if (first === 0xed) return [0x80, 0x9f];
  if (first === 0xf0) return [0x90, 0xbf];
  return first === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf];
}

function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

function decodeLossy(bytes: number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] as number;
    const length = lengthOf(first);
    let [low, high] = secondByte(first);
    let end = at + 1;
    while (end < at + length && (bytes[end] ?? 0) >= low && (bytes[end] ?? 0) <= high) {
      [low, high] = [0x80, 0xbf];
      end++;
    }
    const isWhole = length > 0 && end === at + length;
    text += isWhole ? decodeURIComponent(bytes.slice(at, end).map(hex).join('')) : REPLACEMENT;
    at = end;
  }
  return text;
}
