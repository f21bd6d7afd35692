/**
 * Searches for a text in constant time. The duration of an ordinary search depends on how much of the text matches, so an
 * attacker who chooses the input and measures time could find a secret letter by letter.
 *
 * @module
 */
import { randomInt } from 'node:crypto';

/** Both the text and the input have one character per byte. */
export class Needle {
  readonly #length: number;
  readonly #base: number;
  /** Weight of the first character of a window. */
  readonly #weight: number;
  readonly #hash: number;

  constructor(text: string) {
    this.#length = text.length;
    // A random base, so that an attacker cannot construct collisions.
    this.#base = randomInt(1 << 30) * 2 + 1;
    let weight = 1;
    for (let at = 1; at < text.length; at++) weight = Math.imul(weight, this.#base);
    this.#weight = weight;
    this.#hash = this.#hashOf(text);
  }

  /** Also true for one window in four billion with the same hash, so the caller must verify. */
  isIn(text: string): boolean {
    const length = this.#length;
    if (length === 0 || text.length < length) return false;
    const [base, weight, wanted] = [this.#base, this.#weight, this.#hash];
    let hash = this.#hashOf(text.slice(0, length));
    let found = Number(hash === wanted);
    for (let at = length; at < text.length; at++) {
      hash = Math.imul(hash - Math.imul(text.charCodeAt(at - length), weight), base);
      hash = (hash + text.charCodeAt(at)) | 0;
      found |= Number(hash === wanted);
    }
    return found === 1;
  }

  #hashOf(text: string): number {
    let hash = 0;
    for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, this.#base) + text.charCodeAt(at)) | 0;
    return hash;
  }
}
