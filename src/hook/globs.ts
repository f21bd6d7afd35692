/**
 * The files that an unquoted pattern could mean. Finds more than a shell would (also names that begin with a dot, and every
 * alternative of braces), never less.
 *
 * @module
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const MAX_STEPS = 3000;
/** Names of one folder that cost as much as one question to the file system. */
const NAMES_PER_LOOKUP = 5;
const MAX_PATTERN = 4096;

export interface Piece {
  text: string;
  quoted: boolean;
}

/** Characters in lower case, `ANY` for one, `STAR` for any number of them. */
type Segment = readonly string[];
const ANY = '';
const STAR = '\ue000';

/** Undefined if there are too many to look at. A pattern is text in which the characters of `magic` are unquoted. */
export function matchesOf(
  pattern: readonly Piece[],
  cwd: string,
  budget: { spend: (lookups: number) => void },
): string[] | undefined {
  const segments = segmentsOf(pattern);
  if (segments === undefined) return undefined;
  const isAbsolute = segments[0]?.length === 0;
  let found = [isAbsolute ? '/' : cwd];
  let steps = 0;
  for (const segment of isAbsolute ? segments.slice(1) : segments) {
    const next: string[] = [];
    for (const folder of found) {
      const { names, read } = namesIn(folder, segment);
      budget.spend(1 + read / NAMES_PER_LOOKUP);
      steps += names.length + 1;
      if (steps > MAX_STEPS) return undefined;
      next.push(...names.map((name) => join(folder, name)));
    }
    found = next;
  }
  return found;
}

function namesIn(folder: string, segment: Segment): { names: string[]; read: number } {
  const literal = segment.join('|');
  if (literal === '' || literal === '.') return { names: ['.'], read: 0 };
  if (literal === '.|.') return { names: ['..'], read: 0 };
  try {
    const all = readdirSync(folder);
    return { names: all.filter((name) => matches(segment, name.toLowerCase())), read: all.length };
  } catch {
    return { names: [], read: 0 };
  }
}

/** Goes back only to the last `*`, so that no name takes long. */
function matches(segment: Segment, name: string): boolean {
  let [at, star, mark] = [0, -1, 0];
  for (let position = 0; position < name.length;) {
    const wanted = segment[at];
    if (wanted === STAR) {
      star = at++;
      mark = position;
    } else if (wanted !== undefined && (wanted === ANY || wanted === name[position])) {
      at++;
      position++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      position = ++mark;
    }
  }
  return segment.slice(at).every((rest) => rest === STAR);
}

/** One per segment of the path; undefined where braces contain a slash, and for a pattern too long for a path. */
function segmentsOf(pieces: readonly Piece[]): Segment[] | undefined {
  const segments: string[][] = [[]];
  const add = (sign: string): unknown => segments.at(-1)?.push(sign);
  let [braces, length] = [0, 0];
  for (const { text, quoted } of pieces) {
    length += text.length;
    if (length > MAX_PATTERN) return undefined;
    for (const char of text) {
      if (char === '/') {
        if (braces > 0) return undefined;
        segments.push([]);
      } else if (quoted || !/[*?[\]{}]/.test(char)) {
        for (const unit of char.toLowerCase()) for (const half of unit.split('')) add(half);
      } else if (char === '?') add(ANY);
      else {
        if (char === '{') braces++;
        if (char === '}') braces = Math.max(0, braces - 1);
        add(STAR);
      }
    }
  }
  return segments.map(loosened);
}

/** What stands between two wide signs may be an alternative, a class or nothing: only its ends are certain. */
function loosened(segment: readonly string[]): string[] {
  const [first, last] = [segment.indexOf(STAR), segment.lastIndexOf(STAR)];
  if (first === -1) return [...segment];
  return [...segment.slice(0, first), STAR, ...segment.slice(last + 1)];
}
