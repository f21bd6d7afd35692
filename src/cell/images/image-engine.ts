/**
 * What engines have in common whose programs are in an image.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { ImageStore, Refusal } from './contract.ts';

export abstract class ImageEngine<Options extends { images: ImageStore }> {
  readonly reusable = false;
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  lacks(bundle: Bundle): Promise<Refusal | undefined> {
    return this.options.images.refusal(bundle.manifest.container ?? {}, bundle);
  }

  /** Whether the image has its program is known only for a bundle. */
  missing(): undefined {
    return undefined;
  }
}
