/**
 * The base images of the engine; the newest is used. Each has its own hash seed, which determines the order of sets and
 * hardens dictionaries against crafted keys. A skill could find out a seed that never changes, so images are replaced.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addImage, installEngine, type EngineInstallOptions } from './install.ts';

const MAX_AGE_MS = 24 * 3_600_000;
/** Maximum number of processes that one runtime starts from an image. Each of them serves many calls. */
const MAX_STARTS = 200;
/** A process may be starting from the image before the newest. */
const KEPT_IMAGES = 2;

export interface BaseImage {
  /** Folder of the image itself. */
  base: string;
  /** Folder for the saved images of skills. */
  skills: string;
}

export interface BaseImagesOptions extends EngineInstallOptions {
  maxAgeMs?: number;
  maxStarts?: number;
}

export class BaseImages {
  readonly #options: BaseImagesOptions;
  readonly #folder: string;
  #newest: string;
  #starts = 0;
  #renewal: Promise<void> | undefined;

  private constructor(options: BaseImagesOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    this.#newest = newestIn(folder);
  }

  /** Installs the engine if it is missing. Replaces an image that is too old before any process starts from it. */
  static async open(options: BaseImagesOptions): Promise<BaseImages> {
    const images = new BaseImages(options, await installEngine(options));
    if (images.#isTooOld) await images.#renew();
    return images;
  }

  /** Folder with the code of the engine. */
  get code(): string {
    return join(this.#folder, 'code');
  }

  /** Whether no native code of packages is part of it. */
  get isOurs(): boolean {
    return this.#options.packages === undefined;
  }

  /** Identifies the engine and everything that it was built from. */
  get version(): string {
    return basename(this.#folder);
  }

  /** Returns the image for one process. After too many starts, a new one is built in the background. */
  take(): BaseImage {
    const { maxStarts = MAX_STARTS } = this.#options;
    this.#refresh();
    if (++this.#starts > maxStarts || this.#isTooOld) unattended(this.#renew());
    return this.newest;
  }

  get newest(): BaseImage {
    const folder = join(this.#folder, 'images', this.#newest);
    return { base: join(folder, 'base'), skills: join(folder, 'skills') };
  }

  get #isTooOld(): boolean {
    const { maxAgeMs = MAX_AGE_MS } = this.#options;
    return Date.now() - Number.parseInt(this.#newest, 10) > maxAgeMs;
  }

  /** Another runtime may have added a newer image and removed ours. */
  #refresh(): void {
    const newest = newestIn(this.#folder);
    if (newest !== this.#newest) this.#starts = 0;
    this.#newest = newest;
  }

  /** A failure changes nothing: the old image still works, and the next start tries again. */
  #renew(): Promise<void> {
    this.#renewal ??= addImage(this.#options, this.#folder)
      .then(() => {
        this.#refresh();
        removeOld(this.#folder);
      })
      .catch(() => undefined)
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }
}

function imagesIn(folder: string): string[] {
  return readdirSync(join(folder, 'images')).toSorted();
}

function newestIn(folder: string): string {
  return imagesIn(folder).at(-1) ?? '';
}

function removeOld(folder: string): void {
  for (const name of imagesIn(folder).slice(0, -KEPT_IMAGES))
    rmSync(join(folder, 'images', name), { recursive: true, force: true });
}
