/**
 * What the backends share: a remembered probe, and which grants they accept.
 *
 * @module
 */
import type { Grant } from '../../../policy/grant.ts';
import type { WallProbe } from '../../contract.ts';
import { CachedProbe } from '../try-program.ts';
import { profileFor } from './sandbox.ts';

export abstract class ProbedBackend {
  readonly #probe = new CachedProbe(() => this.tryOnce());

  probe(): Promise<WallProbe> {
    return this.#probe.get();
  }

  accepts(grant: Grant): void {
    profileFor(grant);
    this.identity(grant);
  }

  abstract identity(grant: Grant): { uid: number; gid: number } | undefined;
  protected abstract tryOnce(): Promise<WallProbe>;
}
