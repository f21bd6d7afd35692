/**
 * What sources have in common that know no versions: a folder, an archive, an index. They deliver what is there now.
 *
 * @module
 */
import type { Delivery, PinnedSource, Source, SourceName } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import { movedSource } from './problems.ts';

export interface FoundFiles {
  files: ReadonlyMap<string, Buffer>;
  revision: string;
}

export abstract class UnversionedSource implements Source {
  abstract readonly kind: Source['kind'];
  abstract fetch(reference: string, watch?: TransferWatch): Promise<Delivery>;
  abstract currentRevision(pinned: PinnedSource): Promise<string>;
  /** The whole text without a version. */
  protected abstract sourceOf(reference: string): string;

  parse(reference: string): SourceName {
    return { source: this.sourceOf(reference) };
  }

  reference({ source }: SourceName): string {
    return source;
  }

  async fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery> {
    const delivery = await this.fetch(pinned.source, watch);
    const { revision } = delivery.pinned;
    if (revision !== pinned.revision) throw movedSource(pinned, revision);
    return { ...delivery, pinned };
  }

  versions(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}
