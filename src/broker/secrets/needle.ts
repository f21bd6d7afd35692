/**
 * Looks for a text in a time that does not depend on the text. An ordinary search runs faster or slower the more of the
 * text is there, and whoever chooses what is searched and has a clock could find a secret letter by letter.
 *
 * @module
 */
import { randomInt } from 'node:crypto';

/** One character per byte, in what is sought as in what is searched. */
export class Needle {
  readonly #length: number;
  readonly #base: number;
  /** What the first character of a window counts for. */
  readonly #weight: number;
  readonly #hash: number;

  constructor(text: string) {
    this.#length = text.length;
    // Nobody can make a collision on purpose who does not know the base.
    this.#base = randomInt(1 << 30) * 2 + 1;
    let weight = 1;
    for (let at = 1; at < text.length; at++) weight = Math.imul(weight, this.#base);
    this.#weight = weight;
    this.#hash = this.#hashOf(text);
  }

  /** True also for one window in four billion that only has the same hash: the caller looks again. */
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
