/**
 * A tripwire for values that would go to servers they are not for. No cell holds a value, so one in a request came from a
 * file, from parameters, or disguised from an answer. This is not a wall: a skill that has a value can disguise it.
 *
 * It must not help to guess a value. A denied request confirms the guess in it, so after one such denial the call can send
 * nothing more, the number of searched bytes is bounded, and values that are easy to guess are not searched for.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import type { GrantedSecret } from '../../policy/grant.ts';
import { isFor, type Target } from './audience.ts';
import type { ByteFilter, RequestHead } from './contract.ts';
import { Finder, type Replacement } from './finder.ts';
import { everySpelling } from './patterns.ts';
import { isHardToGuess } from './strength.ts';

export interface ValueGuardOptions {
  granted: readonly GrantedSecret[];
  network: readonly NetworkRule[];
  /** Records the attempt and throws. */
  refuse: (secret: GrantedSecret, host: string) => never;
}

/** Limit per call for bytes to servers that some value is not for, because every position in them is a possible guess. */
const MAX_SEARCHED_BYTES: number = 1024 * 1024;

export class ValueGuard {
  readonly #options: ValueGuardOptions;
  #values: ReadonlyMap<string, string> = new Map();
  #left = MAX_SEARCHED_BYTES;
  /** The attempt after which the call can send nothing more. */
  #caught: { secret: GrantedSecret; host: string } | undefined;

  constructor(options: ValueGuardOptions) {
    this.#options = options;
  }

  arm(values: ReadonlyMap<string, string>): void {
    this.#values = new Map([...values].filter(([, value]) => isHardToGuess(value)));
  }

  checkHead(head: RequestHead): void {
    this.#assertNotCaught();
    const lines = Object.entries(head.headers).flat(2);
    this.#search([head.path, ...lines].join('\n'), head);
  }

  /** A filter that searches the input of another one. */
  inFrontOf(filter: ByteFilter, head: RequestHead): ByteFilter {
    let kept = '';
    return {
      push: (chunk) => {
        const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
        kept = (kept + text).slice(0, this.#left);
        return filter.push(chunk);
      },
      // A body is sent only when it is complete, so this runs before its first byte leaves.
      end: () => {
        this.#search(kept, head);
        return filter.end();
      },
    };
  }

  #search(text: string, { host, port, isTls }: Target): void {
    const finder = this.#finderFor({ host, port, isTls });
    if (!finder) return;
    const seen = text.slice(0, this.#left);
    this.#left -= seen.length;
    finder.replaceIn(seen);
  }

  #finderFor(to: Target): Finder | undefined {
    const { granted, network } = this.#options;
    const replacements = granted.flatMap((secret): Replacement[] => {
      const value = this.#values.get(secret.name);
      if (value === undefined || isFor(secret, to, network)) return [];
      const replace = (): never => this.#catch(secret, to.host);
      return everySpelling(value).map((pattern) => ({ pattern, replace }));
    });
    return replacements.length === 0 ? undefined : new Finder(replacements);
  }

  #catch(secret: GrantedSecret, host: string): never {
    this.#caught = { secret, host };
    return this.#options.refuse(secret, host);
  }

  #assertNotCaught(): void {
    if (this.#caught) this.#options.refuse(this.#caught.secret, this.#caught.host);
  }
}
