/**
 * A tripwire for values on their way to servers that they are not for. No cell holds a value, so one in a request came
 * another way: from a file, from parameters, from an answer in a disguise. It is no wall: who has a value can disguise it.
 *
 * It must not help to guess a value either. A request that is stopped tells that the guess in it was right, so a call
 * gets one such answer and then nothing leaves any more, what is looked at is bounded, and values that are easy to guess are
 * not looked for.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import type { GrantedSecret } from '../../policy/grant.ts';
import { isFor, type Target } from './audience.ts';
import type { ByteFilter, RequestHead } from './contract.ts';
import { Finder, type Sought } from './finder.ts';
import { everySpelling } from './patterns.ts';
import { isHardToGuess } from './strength.ts';

export interface ValueGuardOptions {
  granted: readonly GrantedSecret[];
  network: readonly NetworkRule[];
  /** Notes the attempt and throws. */
  refuse: (secret: GrantedSecret, host: string) => never;
}

/** Bytes of a call to servers that some value is not for. Each place in them is a guess that can be tried. */
export const MOST_LOOKED_AT: number = 1024 * 1024;

export class ValueGuard {
  readonly #options: ValueGuardOptions;
  #values: ReadonlyMap<string, string> = new Map();
  #left = MOST_LOOKED_AT;
  /** The attempt after which nothing leaves any more. */
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
    this.#look([head.path, ...lines].join('\n'), head);
  }

  /** A filter that looks at what goes into another one. */
  before(filter: ByteFilter, head: RequestHead): ByteFilter {
    let kept = '';
    return {
      push: (chunk) => {
        const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
        kept = (kept + text).slice(0, this.#left);
        return filter.push(chunk);
      },
      // Bodies leave whole, so this comes before the first byte does.
      end: () => {
        this.#look(kept, head);
        return filter.end();
      },
    };
  }

  #look(text: string, { host, port, isTls }: Target): void {
    const finder = this.#finderFor({ host, port, isTls });
    if (!finder) return;
    const seen = text.slice(0, this.#left);
    this.#left -= seen.length;
    finder.replaceIn(seen);
  }

  #finderFor(to: Target): Finder | undefined {
    const { granted, network } = this.#options;
    const sought = granted.flatMap((secret): Sought[] => {
      const value = this.#values.get(secret.name);
      if (value === undefined || isFor(secret, to, network)) return [];
      const replace = (): never => this.#catch(secret, to.host);
      return everySpelling(value).map((pattern) => ({ pattern, replace }));
    });
    return sought.length === 0 ? undefined : new Finder(sought);
  }

  #catch(secret: GrantedSecret, host: string): never {
    this.#caught = { secret, host };
    return this.#options.refuse(secret, host);
  }

  #assertNotCaught(): void {
    if (this.#caught) this.#options.refuse(this.#caught.secret, this.#caught.host);
  }
}
