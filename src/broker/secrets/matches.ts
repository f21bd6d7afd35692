/**
 * Finds the matches of a sequence of steps, each with several spellings. Implemented by hand, because the regular expression
 * of a key with some thousand characters is too large for the engine.
 *
 * @module
 */
import type { Steps } from './patterns.ts';

export interface Match {
  from: number;
  to: number;
}

/** Every start of a match, including overlapping ones, each with its longest end. */
export function matchesOf(steps: Steps, text: string): Match[] {
  const isFirst = new Uint8Array(256);
  for (const spelling of steps[0] ?? []) isFirst[spelling.charCodeAt(0)] = 1;
  const found: Match[] = [];
  for (let from = 0; from < text.length; from++) {
    if (isFirst[text.charCodeAt(from)] !== 1) continue;
    const to = endOf(steps, text, from);
    if (to !== undefined) found.push({ from, to });
  }
  return found;
}

/** A character that starts its own escape (`%`, `%25`) can be read in two ways, so there may be several ends. */
function endOf(steps: Steps, text: string, from: number): number | undefined {
  let ends = [from];
  for (const spellings of steps) {
    const next: number[] = [];
    for (const end of ends)
      for (const spelling of spellings) {
        const to = end + spelling.length;
        if (text.startsWith(spelling, end) && !next.includes(to)) next.push(to);
      }
    if (next.length === 0) return undefined;
    ends = next;
  }
  return Math.max(...ends);
}
