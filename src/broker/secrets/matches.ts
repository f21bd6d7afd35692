/**
 * Where in a text something stands that was written step by step, each step in one of several spellings. Walked by hand: an
 * expression of a key of some thousand characters is more than the engine takes.
 *
 * @module
 */
import type { Steps } from './patterns.ts';

export interface Match {
  from: number;
  to: number;
}

/** Every place where it begins, also inside of another, each with the longest way to write it from there. */
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

/** A sign that begins its own escape (`%`, `%25`) can be read in two ways, so there may be more than one end. */
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
