/**
 * The ways in which servers may read a path: some decode once, some more often, before or after they look for `..`; some
 * leave out what follows a `;` in a segment, some take a backslash for a slash. A rule has to cover all readings.
 *
 * @module
 */

/** A server that decodes more often than this is not to be helped. */
const MAX_DECODINGS = 4;
/** More readings than these has nothing that anybody would write. */
const MAX_READINGS = 64;
/** Of all readings together: each costs time of everybody. The longest path alone has half of it. */
const MAX_CHARACTERS = 16 * 1024;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROLS = /[\x00-\x1f\x7f]/;
/** The encoding of old browsers, which some servers still undo. */
const U_ENCODED = /%u[0-9a-f]{4}/i;
const HALF_ENCODED = /%(?![0-9a-f]{2})/i;
/** Letters that are no slashes and are taken for some. */
const LIKE_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/g;

type Reader = (path: string) => string;

/** Each may come at any stage of a server, so every order of them is tried. */
const READERS: readonly Reader[] = [
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll(/\/{2,}/g, '/'),
  (path) => path.replaceAll(/;[^/]*/g, ''),
  (path) => path.replace(/[?#][^]*$/, ''),
  (path) => path.split('/').map(withoutBlanks).join('/'),
  (path) => path.split('/').map(trimmedEnd).join('/'),
  (path) => letters(path, (text) => text.normalize('NFKC').replaceAll(LIKE_SLASHES, '/')),
  withoutDots,
];

/**
 * All readings, one character per byte; undefined for a path that no two servers need to agree on: control characters, bytes
 * that are not UTF-8 (`%c0%ae` is a dot to some), `%u002e`, a percent sign without digits, or too many
 * layers or readings.
 */
export function readings(path: string): readonly string[] | undefined {
  if (HALF_ENCODED.test(path)) return undefined;
  const found = new Map([[path, 0]]);
  let characters = 0;
  for (const [reading, decodings] of found) {
    characters += reading.length;
    if (characters > MAX_CHARACTERS || found.size > MAX_READINGS || isUnclear(reading)) return undefined;
    const decoded = decode(reading);
    if (decoded !== reading && decodings === MAX_DECODINGS) return undefined;
    for (const next of [decoded, ...READERS.map((read) => read(reading))]) {
      if (!found.has(next)) found.set(next, next === decoded ? decodings + 1 : decodings);
    }
  }
  return [...found.keys()];
}

function isUnclear(path: string): boolean {
  return CONTROLS.test(path) || U_ENCODED.test(path) || letters(path, (text) => text) !== path;
}

/** The same with bytes as letters; something else comes back when they are none. */
function letters(path: string, change: Reader): string {
  const text = Buffer.from(path, 'latin1').toString('utf8');
  return Buffer.from(change(text)).toString('latin1');
}

function decode(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Blanks at the end of a name: some systems leave them out, and `.. ` is then what leads up. */
function withoutBlanks(segment: string): string {
  return segment.slice(0, endBefore(segment, ' '));
}

/** Dots are left out there as well, unless there is nothing else: more than one then leads up. */
function trimmedEnd(segment: string): string {
  const end = endBefore(segment, ' .');
  const isUp = end === 0 && segment.indexOf('.') !== segment.lastIndexOf('.');
  return isUp ? '..' : segment.slice(0, end);
}

/** Where the last of these characters begin. An expression would take the square of the time. */
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
