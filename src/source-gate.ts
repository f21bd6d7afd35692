/**
 * What a runtime knows that distribution needs: the rules of the policy in force for sources and signers, and a look at a
 * folder that just arrived.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { Bundle } from './load/bundle.ts';
import type { BundleLocation } from './load/load-bundle.ts';
import type { SkillPlaces } from './load/locate.ts';
import { isLargeBundle } from './load/read-source.ts';
import { rulesOf } from './policy/combine.ts';
import type { OperatorPolicy } from './policy/operator.ts';
import { demandsOnSource, type SourceDemand } from './policy/source-rules.ts';
import type { Publisher } from './trust/publishers.ts';

export class SourceGate {
  readonly #places: SkillPlaces;
  readonly #policy: () => OperatorPolicy;
  readonly #read: (location: BundleLocation) => Promise<Bundle>;

  constructor(
    places: SkillPlaces,
    policy: () => OperatorPolicy,
    read: (location: BundleLocation) => Promise<Bundle>,
  ) {
    this.#places = places;
    this.#policy = policy;
    this.#read = read;
  }

  /** The working directory, whose `skills.lock.json` counts. */
  get cwd(): string {
    return this.#places.cwd;
  }

  /** What the policy demands of a source. Throws `untrusted` if it allows none of this kind. */
  demands(source: string): SourceDemand[] {
    return demandsOnSource(this.#policy().sources ?? [], source);
  }

  /** Everyone whose signature the policy knows. */
  get publishers(): Publisher[] {
    const all = rulesOf(this.#policy()).flatMap(({ publishers }) => publishers);
    return all.filter((one, at) => all.findIndex((other) => isDeepStrictEqual(one, other)) === at);
  }

  /**
   * Reads, verifies and inspects a folder that just arrived, as loading does, but as an untrusted one: without overlays,
   * and without what this machine would use. Nothing of it runs. `files` are those that were written there.
   */
  examine(dir: string, files: ReadonlyMap<string, Buffer>): Promise<Bundle> {
    return this.#read({ ref: dir, dir, origin: 'external', isLarge: isLargeBundle(files) });
  }

  /** The digest of a folder, as the registries compare it; undefined if it cannot be read. */
  digestOf(dir: string): string | undefined {
    return this.#places.digestOf?.(dir);
  }
}
