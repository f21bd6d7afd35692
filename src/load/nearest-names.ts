/**
 * "Did you mean": finds the known names closest to a mistyped one.
 *
 * @module
 */

const MAX_SUGGESTIONS = 3;
/** Longer input is not a typing error, and comparing it would waste time. */
const MAX_LENGTH = 200;

/** Closest first. The last segment of a name also matches. */
export function nearestNames(typed: string, names: readonly string[]): string[] {
  if (typed.length > MAX_LENGTH) return [];
  const tolerance = Math.max(1, Math.floor(typed.length / 4));
  return names
    .map((name) => ({
      name,
      distance: Math.min(editDistance(typed, name), editDistance(typed, lastSegment(name))),
    }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function lastSegment(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
