/**
 * Finds texts in bytes and puts something else in their place, in one piece or in a stream.
 *
 * @module
 */
import type { ByteFilter } from './contract.ts';
import { matchesOf, type Match } from './matches.ts';
import { longest, type Pattern } from './patterns.ts';
import { Views } from './views.ts';

export interface Sought {
  pattern: Pattern;
  /** What stands in its place: one character per byte, like all text here. May throw. */
  replace: (found: string) => string;
}

export class Finder {
  readonly #sought: readonly Sought[];
  #longest: number | undefined;

  constructor(sought: readonly Sought[]) {
    this.#sought = sought;
  }

  /** Text of bytes in and out. */
  replaceIn(bytes: string): string {
    return this.#replaceUpTo(bytes, { upTo: bytes.length, done: 0 }).replaced;
  }

  /** The same for any text; what holds nothing sought comes back as it was. */
  replaceInText(text: string): string {
    const bytes = Buffer.from(text).toString('latin1');
    const replaced = this.replaceIn(bytes);
    return replaced === bytes ? text : Buffer.from(replaced, 'latin1').toString('utf8');
  }

  /**
   * Bytes leave by their number alone: of all that came, what the longest finding could still need is held back. What
   * is released, and when, must not depend on how much of something sought has come.
   */
  filter(): ByteFilter {
    let held = '';
    let ready = '';
    // Of what is held, so many at its beginning are replaced already: a finding reached into it.
    let done = 0;
    let owed = -this.#mostHeld();
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
        settle(Math.max(0, held.length - this.#mostHeld()));
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

  #mostHeld(): number {
    this.#longest ??= Math.max(1, ...this.#sought.map(({ pattern }) => longest(pattern)));
    return this.#longest - 1;
  }

  /** A finding that begins before this place is whole, and taken as such. It may end behind it. */
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

  /** In order, none inside of another: two that overlap are covered together, the second from the end of the first on. */
  #findings(text: string, { upTo, done }: Span): Finding[] {
    const views = new Views(text);
    const all = this.#sought
      .filter(({ pattern }) => pattern.mayBeIn(views))
      .flatMap((one) => findingsOf(one, text));
    const kept: Finding[] = [];
    let end = done;
    for (const one of all.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
      if (one.from >= upTo || one.to <= end) continue;
      const last = kept.at(-1);
      // What repeats itself (`abab`) begins again before it ends.
      if (last && one.from < end && last.replace === one.replace) last.to = one.to;
      else kept.push({ ...one, from: Math.max(one.from, end) });
      end = one.to;
    }
    return kept;
  }
}

/** A part of a text: up to where it is settled, and from where on nothing has been done yet. */
interface Span {
  upTo: number;
  done: number;
}

interface Finding extends Match {
  replace: Sought['replace'];
}

function findingsOf({ pattern, replace }: Sought, text: string): Finding[] {
  return matchesOf(pattern.steps, text).map(({ from, to }) => ({ from, to, replace }));
}
