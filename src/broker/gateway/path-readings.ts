/**
 * The ways in which servers may read a path: some decode once, some more often, before or after they resolve `..`; some drop
 * the part of a segment after `;`, some treat a backslash as a slash. A rule must cover all readings.
 *
 * @module
 */

/** Servers that decode more often than this are not supported. */
const MAX_DECODINGS = 4;
/** No legitimate path has more readings. */
const MAX_READINGS = 64;
/** Limit for all readings together, because each costs time on the event loop. The longest path has half of it. */
const MAX_CHARACTERS = 16 * 1024;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROLS = /[\x00-\x1f\x7f]/;
/** The encoding of old browsers, which some servers still decode. */
const U_ENCODED = /%u[0-9a-f]{4}/i;
const HALF_ENCODED = /%(?![0-9a-f]{2})/i;
/** Characters that some servers treat as slashes. */
const LIKE_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/g;

type Reader = (path: string) => string;

/** A server may apply them in any order, so every order is tried. */
const READERS: readonly Reader[] = [
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll(/\/{2,}/g, '/'),
  (path) => path.replaceAll(/;[^/]*/g, ''),
  (path) => path.replace(/[?#][^]*$/, ''),
  (path) => path.split('/').map(withoutBlanks).join('/'),
  (path) => path.split('/').map(trimmedEnd).join('/'),
  (path) => asUtf8(path, (text) => text.normalize('NFKC').replaceAll(LIKE_SLASHES, '/')),
  withoutDots,
];

/**
 * All readings, one character per byte. Undefined for an ambiguous path: control characters, bytes that are not UTF-8
 * (`%c0%ae` is a dot to some servers), `%u002e`, a percent sign without digits, or too many layers or readings.
 */
export function readings(path: string): readonly string[] | undefined {
  if (HALF_ENCODED.test(path)) return undefined;
  const found = new Map([[path, 0]]);
  let characters = 0;
  for (const [reading, decodings] of found) {
    characters += reading.length;
    if (characters > MAX_CHARACTERS || found.size > MAX_READINGS || isAmbiguous(reading)) return undefined;
    const decoded = decode(reading);
    if (decoded !== reading && decodings === MAX_DECODINGS) return undefined;
    for (const next of [decoded, ...READERS.map((read) => read(reading))]) {
      if (!found.has(next)) found.set(next, next === decoded ? decodings + 1 : decodings);
    }
  }
  return [...found.keys()];
}

function isAmbiguous(path: string): boolean {
  return CONTROLS.test(path) || U_ENCODED.test(path) || asUtf8(path, (text) => text) !== path;
}

/** Applies `change` to the bytes decoded as UTF-8; the result differs from the input if they are not valid UTF-8. */
function asUtf8(path: string, change: Reader): string {
  const text = Buffer.from(path, 'latin1').toString('utf8');
  return Buffer.from(change(text)).toString('latin1');
}

function decode(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Some systems ignore spaces at the end of a name, so that `.. ` means the parent. */
function withoutBlanks(segment: string): string {
  return segment.slice(0, endBefore(segment, ' '));
}

/** Those systems also ignore dots at the end, but a name of several dots means the parent. */
function trimmedEnd(segment: string): string {
  const end = endBefore(segment, ' .');
  const isUp = end === 0 && segment.indexOf('.') !== segment.lastIndexOf('.');
  return isUp ? '..' : segment.slice(0, end);
}

/** Length without these trailing characters. A regular expression would take quadratic time. */
function endBefore(segment: string, characters: string): number {
  let end = segment.length;
  while (end > 0 && characters.includes(segment.charAt(end - 1))) end--;
  return end;
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept[0] === '' ? kept.join('/') : `/${kept.join('/')}`;
}
