/**
 * Host and path patterns of an operator policy. Pure string logic, no lookups.
 *
 * @module
 */
import { starMatches } from '../manifest/star-pattern.ts';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const HOST = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$|^\\[?[0-9a-f:]*:[0-9a-f:.]+\\]?$`);

/** One spelling per host: lower case, no trailing dot, no brackets around an IPv6 address. */
export function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

export function isHostPattern(pattern: string): boolean {
  return HOST.test(normalizeHost(pattern));
}

/**
 * Does the pattern cover the host? Matches exactly, or `*.example.com` for one or more labels before it
 * but never the bare domain. If the host is itself a pattern, everything it matches must be covered.
 */
export function hostCovers(pattern: string, host: string): boolean {
  const wanted = normalizeHost(host);
  const allowed = normalizeHost(pattern);
  if (allowed === wanted) return true;
  if (!allowed.startsWith('*.')) return false;
  const suffix = allowed.slice(1);
  const name = wanted.startsWith('*.') ? wanted.slice(2) : wanted;
  return name.length > suffix.length && name.endsWith(suffix);
}

/** The segments of a path without empty ones and `.`; undefined if it has `..` or a NUL. */
export function pathSegments(path: string): string[] | undefined {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.includes('..') || path.includes('\0') ? undefined : segments;
}

/**
 * Does the pattern cover the path? `*` matches any text inside one segment, `**` any number of segments.
 * Access to a folder includes its contents, so a match covers everything below it.
 */
export function pathCovers(pattern: string, path: string): boolean {
  const allowed = pathSegments(pattern);
  const wanted = pathSegments(path);
  if (allowed === undefined || wanted === undefined) return false;
  // `/*` must not match the word `${workspace}`: both are rooted at `/`, or neither is.
  if (pattern.startsWith('/') !== path.startsWith('/')) return false;
  return segmentsCover(allowed, wanted);
}

/** Does the pattern cover every path that the other one covers? Conservative: a wrong "no" is possible, a wrong "yes" is not. */
export function pathCoversPattern(pattern: string, other: string): boolean {
  // `**` may match nothing, so the pattern covers as much as the folder before it.
  const [front = ''] = other.split(/(?<=\/)\*\*(?:\/|$)/);
  return pathCovers(pattern, front);
}

/**
 * Walks the path once and keeps the set of pattern positions reached so far (at most one per pattern
 * segment), so that a pattern of many `**` costs no more than pattern length times path length.
 */
function segmentsCover(pattern: string[], path: string[]): boolean {
  let reached = withSkipped(pattern, new Set([0]));
  for (const segment of path) {
    if (reached.has(pattern.length)) return true;
    const next = new Set<number>();
    for (const at of reached) {
      const part = pattern[at];
      if (part === '**') next.add(at);
      else if (part !== undefined && starMatches(part, segment)) next.add(at + 1);
    }
    reached = withSkipped(pattern, next);
  }
  return reached.has(pattern.length);
}

/** `**` may match nothing: every position just before one also reaches the position after it. */
function withSkipped(pattern: string[], positions: Set<number>): Set<number> {
  for (const at of positions) if (pattern[at] === '**') positions.add(at + 1);
  return positions;
}
