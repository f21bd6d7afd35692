/**
 * The base images of the engine, of which the newest is used. Each has a hash seed of its own, which decides the order of
 * sets and hardens dictionaries against crafted keys; a seed that is used for ever can be found out, so images wear out.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addImage, installEngine, type EngineInstallOptions } from './install.ts';

const MAX_AGE_MS = 24 * 3_600_000;
/** Processes that one runtime starts from an image. Each of them serves many calls. */
const MAX_STARTS = 200;
/** The one before the newest may just be used to start a process. */
const KEPT_IMAGES = 2;

export interface BaseImage {
  /** Folder of the image itself. */
  base: string;
  /** Folder for what skills make of it. */
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

  /** Installs the engine when it is missing. An image that is too old is replaced before anything starts from it. */
  static async open(options: BaseImagesOptions): Promise<BaseImages> {
    const images = new BaseImages(options, await installEngine(options));
    if (images.#isTooOld) await images.#renew();
    return images;
  }

  /** Folder with the code of the engine. */
  get code(): string {
    return join(this.#folder, 'code');
  }

  /** Name of the engine with everything that it was made from. */
  get version(): string {
    return basename(this.#folder);
  }

  /** For one process. When the image is worn out, the next ones get another, which is made meanwhile. */
  take(): BaseImage {
    const { maxStarts = MAX_STARTS } = this.#options;
    this.#look();
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

  /** Another runtime may have made a newer one, and removed what we knew. */
  #look(): void {
    const newest = newestIn(this.#folder);
    if (newest !== this.#newest) this.#starts = 0;
    this.#newest = newest;
  }

  /** A failure leaves things as they are: the old image works, and the next start tries again. */
  #renew(): Promise<void> {
    this.#renewal ??= addImage(this.#options, this.#folder)
      .then(() => {
        this.#look();
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
