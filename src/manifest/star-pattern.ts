/**
 * Text patterns in which `*` matches any text. Matched without backtracking, because the earliest match of each part is
 * as good as any other; the cost of hostile text is linear.
 *
 * @module
 */

export function starMatches(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  const tail = rest.pop() ?? '';
  if (!text.startsWith(head) || text.length < head.length + tail.length) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - tail.length && text.endsWith(tail);
}

/** Whether the pattern covers the name of a skill. A star stays within its segment, except when it stands alone. */
export function nameMatches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  const wanted = pattern.split('/');
  const given = name.split('/');
  return (
    wanted.length === given.length && wanted.every((segment, at) => starMatches(segment, given[at] ?? ''))
  );
}
