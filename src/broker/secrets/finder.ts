/**
 * Finds texts in bytes and puts something else in their place, in one piece or in a stream.
 *
 * @module
 */
import type { ByteFilter } from './contract.ts';
import { expressionFor, longest, type Pattern } from './patterns.ts';
import { Views } from './views.ts';

export interface Sought {
  pattern: Pattern;
  /** What stands in its place: one character per byte, like all text here. May throw. */
  replace: (found: string) => string;
}

export class Finder {
  readonly #sought: readonly Sought[];
  #expression: RegExp | undefined;
  #longest: number | undefined;

  constructor(sought: readonly Sought[]) {
    this.#sought = sought;
  }

  /** Text of bytes in and out. */
  replaceIn(bytes: string): string {
    return this.#replaceUpTo(bytes, bytes.length).replaced;
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
    let owed = -this.#mostHeld();
    const settle = (upTo: number): void => {
      const text = this.#replaceUpTo(held, upTo);
      held = held.slice(text.consumed);
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

  /** A finding that begins before this place is whole, and taken as such. */
  #replaceUpTo(text: string, upTo: number): { replaced: string; consumed: number } {
    let replaced = '';
    let consumed = 0;
    for (const found of this.#findings(text)) {
      if (found.index >= upTo) break;
      replaced += text.slice(consumed, found.index) + this.#replacement(found);
      consumed = found.index + found[0].length;
    }
    if (consumed >= upTo) return { replaced, consumed };
    return { replaced: replaced + text.slice(consumed, upTo), consumed: upTo };
  }

  #findings(text: string): Iterable<RegExpExecArray> {
    const views = new Views(text);
    if (!this.#sought.some(({ pattern }) => pattern.mayBeIn(views))) return [];
    this.#expression ??= expressionFor(this.#sought.map(({ pattern }) => pattern));
    return text.matchAll(this.#expression);
  }

  #replacement(found: readonly unknown[]): string {
    const at = this.#sought.findIndex((_, index) => found[index + 1] !== undefined);
    const text = String(found[0]);
    return this.#sought[at]?.replace(text) ?? text;
  }
}
