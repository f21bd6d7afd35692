/**
 * Finds and replaces texts in bytes, in one piece or in a stream.
 *
 * @module
 */
import type { ByteFilter } from './contract.ts';
import { matchesOf, type Match } from './matches.ts';
import { longestMatch, type Pattern } from './patterns.ts';
import { Views } from './views.ts';

export interface Replacement {
  pattern: Pattern;
  /** Returns the replacement, one character per byte like all text here. May throw. */
  replace: (found: string) => string;
}

export class Finder {
  readonly #replacements: readonly Replacement[];
  #longestMatch: number | undefined;

  constructor(replacements: readonly Replacement[]) {
    this.#replacements = replacements;
  }

  /** Takes and returns text with one character per byte. */
  replaceIn(bytes: string): string {
    return this.#replaceUpTo(bytes, { upTo: bytes.length, done: 0 }).replaced;
  }

  /** The same for any text; returns it unchanged if nothing is found. */
  replaceInText(text: string): string {
    const bytes = Buffer.from(text).toString('latin1');
    const replaced = this.replaceIn(bytes);
    return replaced === bytes ? text : Buffer.from(replaced, 'latin1').toString('utf8');
  }

  /**
   * Holds back as many bytes as the longest match could still need. How many bytes are released, and when, depends only on
   * the number of bytes pushed; otherwise it would reveal how much of a secret has matched.
   */
  filter(): ByteFilter {
    let held = '';
    let ready = '';
    // Bytes at the start of `held` that an earlier match already replaced.
    let done = 0;
    let owed = -this.#maxHeld();
    const settle = (upTo: number): void => {
      const text = this.#replaceUpTo(held, { upTo, done });
      held = held.slice(upTo);
      done = text.done;
      ready += text.replaced;
    };
    const release = (count: number): Uint8Array => {
      const bytes = Buffer.from(ready.slice(0, count), 'latin1');
      ready = ready.slice(count);
      return bytes;
    };
    return {
      push: (chunk) => {
        held += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
        settle(Math.max(0, held.length - this.#maxHeld()));
        owed += chunk.length;
        const count = Math.max(0, owed);
        owed -= count;
        return release(count);
      },
      end: () => {
        settle(held.length);
        return release(ready.length);
      },
    };
  }

  #maxHeld(): number {
    this.#longestMatch ??= Math.max(1, ...this.#replacements.map(({ pattern }) => longestMatch(pattern)));
    return this.#longestMatch - 1;
  }

  /** Replaces matches that start before `upTo`; they are complete and may end after it. */
  #replaceUpTo(text: string, { upTo, done }: Span): { replaced: string; done: number } {
    let replaced = '';
    let at = done;
    for (const { from, to, replace } of this.#findings(text, { upTo, done })) {
      replaced += text.slice(at, from) + replace(text.slice(from, to));
      at = to;
    }
    if (at < upTo) replaced += text.slice(at, upTo);
    return { replaced, done: Math.max(at, upTo) - upTo };
  }

  /** Matches in order, without nesting; of two that overlap, the second starts at the end of the first. */
  #findings(text: string, { upTo, done }: Span): Finding[] {
    const views = new Views(text);
    const all = this.#replacements
      .filter(({ pattern }) => pattern.mayBeIn(views))
      .flatMap((one) => findingsOf(one, text));
    const kept: Finding[] = [];
    let end = done;
    for (const one of all.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
      if (one.from >= upTo || one.to <= end) continue;
      const last = kept.at(-1);
      // A repetitive text such as `abab` can match again before its match ends.
      if (last && one.from < end && last.replace === one.replace) last.to = one.to;
      else kept.push({ ...one, from: Math.max(one.from, end) });
      end = one.to;
    }
    return kept;
  }
}

/** The end of the part to process, and the number of characters at its start that are already done. */
interface Span {
  upTo: number;
  done: number;
}

interface Finding extends Match {
  replace: Replacement['replace'];
}

function findingsOf({ pattern, replace }: Replacement, text: string): Finding[] {
  return matchesOf(pattern.steps, text).map(({ from, to }) => ({ from, to, replace }));
}
