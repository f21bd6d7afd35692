/**
 * Which skills saw data that came from which others, as far as calls can tell: everything that was returned to a call
 * before it calls another skill may be in the parameters. Conservative; it does not see files that two skills share, nor
 * what a call already knew.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import type { DataFlow } from '../outcome.ts';

/** Can what this skill is given leave the machine or meet a secret? */
export function canSendOn({ capabilities, env }: Manifest): boolean {
  return capabilities.network.length > 0 || Object.values(env).some(({ secret }) => secret);
}

/** The flows of one tree. */
export class Flows {
  readonly #sources = new Map<string, Set<string>>();

  note(to: string, from: ReadonlySet<string>): void {
    const known = this.#sources.get(to) ?? new Set();
    for (const one of from) if (one !== to) known.add(one);
    if (known.size > 0) this.#sources.set(to, known);
  }

  get all(): DataFlow[] {
    return [...this.#sources].map(([to, from]) => ({ to, from: [...from].toSorted() }));
  }
}
