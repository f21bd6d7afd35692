/**
 * Finds texts in bytes and puts something else in their place, in one piece or in a stream.
 *
 * @module
 */
import type { ByteFilter } from './contract.ts';
import { expressionFor, longest, mayBegin, type Pattern } from './patterns.ts';

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

  filter(): ByteFilter {
    let held = '';
    const release = (upTo: number): Uint8Array => {
      const text = this.#replaceUpTo(held, upTo);
      held = held.slice(text.consumed);
      return Buffer.from(text.replaced, 'latin1');
    };
    return {
      push: (chunk) => {
        held += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
        return release(this.#openEnd(held));
      },
      end: () => release(held.length),
    };
  }

  /** Where the end of the text begins that may be a part of something sought. */
  #openEnd(text: string): number {
    for (let at = Math.max(0, text.length - this.#mostHeld()); at < text.length; at++) {
      const first = text.charAt(at);
      const isOpen = this.#sought.some(
        ({ pattern }) => pattern.beginnings.includes(first) && mayBegin(pattern, text, at),
      );
      if (isOpen) return at;
    }
    return text.length;
  }

  #mostHeld(): number {
    this.#longest ??= Math.max(1, ...this.#sought.map(({ pattern }) => longest(pattern)));
    return this.#longest - 1;
  }

  /** A finding that begins before the end of what is released is whole, and released as such. */
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
    if (!this.#sought.some(({ pattern }) => pattern.mayBeIn(text))) return [];
    this.#expression ??= expressionFor(this.#sought.map(({ pattern }) => pattern));
    return text.matchAll(this.#expression);
  }

  #replacement(found: readonly unknown[]): string {
    const at = this.#sought.findIndex((_, index) => found[index + 1] !== undefined);
    const text = String(found[0]);
    return this.#sought[at]?.replace(text) ?? text;
  }
}
