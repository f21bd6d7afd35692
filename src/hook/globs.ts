/**
 * The files that an unquoted pattern could mean. Finds more than a shell would (also names that begin with a dot, and every
 * alternative of braces), never less.
 *
 * @module
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const MAX_STEPS = 3000;

/** Undefined if there are too many to look at. A pattern is text in which the characters of `magic` are unquoted. */
export function matchesOf(pattern: readonly Piece[], cwd: string): string[] | undefined {
  const segments = segmentsOf(pattern);
  if (segments === undefined) return undefined;
  const isAbsolute = segments[0]?.source === '^$';
  let found = [isAbsolute ? '/' : cwd];
  let steps = 0;
  for (const segment of isAbsolute ? segments.slice(1) : segments) {
    const next: string[] = [];
    for (const folder of found) {
      const names = namesIn(folder, segment);
      steps += names.length + 1;
      if (steps > MAX_STEPS) return undefined;
      next.push(...names.map((name) => join(folder, name)));
    }
    found = next;
  }
  return found;
}

export interface Piece {
  text: string;
  quoted: boolean;
}

function namesIn(folder: string, segment: RegExp): string[] {
  if (segment.source === '^$' || segment.source === '^\\.$') return ['.'];
  if (segment.source === '^\\.\\.$') return ['..'];
  try {
    return readdirSync(folder).filter((name) => segment.test(name));
  } catch {
    return [];
  }
}

/** One expression per segment of the path; undefined where braces contain a slash. */
function segmentsOf(pieces: readonly Piece[]): RegExp[] | undefined {
  let source = '';
  for (const { text, quoted } of pieces) {
    for (const char of text) {
      if (char === '/') source += '/';
      else if (quoted || !/[*?[\]{}]/.test(char)) source += char.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
      else source += char === '{' ? '\ue001' : char === '}' ? '\ue002' : char === '?' ? '[^/]' : '[^/]*';
    }
  }
  // Brackets and braces become "anything", which is more than they match.
  const loose = source
    .replaceAll(/\ue001[^\ue001\ue002]*\/[^\ue001\ue002]*\ue002/g, '\ue003')
    .replaceAll(/\ue001[^\ue002/]*\ue002/g, '[^/]*')
    .replaceAll(/[\ue001\ue002]/g, '[^/]*')
    .replaceAll(/\[\^\/\]\*[^/]*\[\^\/\]\*/g, '[^/]*');
  if (loose.includes('\ue003')) return undefined;
  return loose.split(/\/(?!\])/).map((segment) => new RegExp(`^${segment}$`, 'i'));
}
