/**
 * The image store in our home, by digest. Names point to digests. Engines load images from here.
 *
 *     <home>/images/blobs/sha256/<hex>   configs, manifests, layers
 *                  /layouts/<hex>/       an OCI layout for each image, of hard links
 *                  /names/<hash>.json    which image a reference means
 *                  /built/<hex>.json     which image was built from a bundle
 *                  /rootfs/<hex>/        unpacked
 *                  /archives/<hex>.tar   for `podman load` and `docker load`
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { chmod, link, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../errors.ts';
import { sha256 } from '../../load/digest.ts';
import { publish } from '../../load/publish.ts';
import { writeArchive } from './archive.ts';
import { type Blob, Blobs } from './blobs.ts';
import type { ImageStore, Refusal, ResolvedImage } from './contract.ts';
import { sweepDrafts } from './drafts.ts';
import { FileTree } from './file-tree.ts';
import { applyLayer, tooLarge } from './layers.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import {
  type ConfigDocument,
  digestOf,
  hexOf,
  imageConfig,
  LAYOUT_FILE,
  makeIndex,
  makeManifest,
  parseConfig,
  parseManifest,
} from './oci.ts';
import { imageRefused, writingFailed } from './problems.ts';
import { resolveImage } from './resolve.ts';
import { treeBytes, writeTree } from './unpack.ts';

export interface ImageStoreOptions {
  home: string;
  limits?: ImageLimits;
  /** Receives a progress message when something takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
}

export function createImageStore(options: ImageStoreOptions): LocalImages {
  return new LocalImages(options);
}

/** An image of the store with its documents. */
export interface StoredImage {
  digest: string;
  configBytes: Buffer;
  document: ConfigDocument;
  layers: Blob[];
}

export class LocalImages implements ImageStore {
  readonly folder: string;
  readonly blobs: Blobs;
  readonly limits: ImageLimits;
  readonly #onProgress: (text: string) => void;
  readonly #unpacked = new Map<string, Promise<string>>();

  constructor({ home, limits = IMAGE_LIMITS, onProgress = () => undefined }: ImageStoreOptions) {
    this.folder = join(home, 'images');
    this.blobs = new Blobs(join(this.folder, 'blobs', 'sha256'));
    this.limits = limits;
    this.#onProgress = onProgress;
  }

  resolve(...[rule, bundle]: Parameters<ImageStore['resolve']>): Promise<ResolvedImage> {
    return resolveImage(this, rule, bundle);
  }

  /** Why the image of a bundle cannot be used here, in case another mode does not need it. Throws on drift. */
  async refusal(...declared: Parameters<ImageStore['resolve']>): Promise<Refusal | undefined> {
    try {
      await this.resolve(...declared);
      return undefined;
    } catch (error) {
      if (!(error instanceof SkillError) || error.code !== 'skill_unavailable') throw error;
      return { reason: `${error.message} (${error.fix})`, fix: error.fix };
    }
  }

  /** Adds an image whose layers are already blobs. Returns the digest of its manifest. */
  async add(config: Buffer, layers: readonly Blob[]): Promise<string> {
    parseConfig(config, this.limits);
    await this.blobs.write([config]);
    const { digest } = await this.blobs.write([makeManifest(config, [...layers])]);
    await this.#layOut(digest);
    return digest;
  }

  /** The image with this digest, or undefined if the store does not have it. */
  async find(digest: string): Promise<StoredImage | undefined> {
    if (!this.blobs.has(digest) || !existsSync(this.#layout(digest))) return undefined;
    const manifest = parseManifest(await this.blobs.read(digest));
    const configBytes = await this.blobs.read(manifest.config.digest);
    const document = parseConfig(configBytes, this.limits);
    return { digest, configBytes, document, layers: manifest.layers };
  }

  /** The image in the form that walls use. */
  describe(image: StoredImage, reference: string): ResolvedImage {
    return {
      digest: image.digest,
      id: digestOf(image.configBytes),
      reference,
      config: imageConfig(image.document),
      layout: this.#layout(image.digest),
      rootfs: () => this.rootfs(image),
      archive: () => this.#archive(image.digest),
    };
  }

  name(reference: string, digest: string): Promise<void> {
    return this.#writeRecord(this.#nameFile(reference), { reference, digest });
  }

  /** The digest of a reference in this store. */
  digestFor(reference: string): Promise<string | undefined> {
    return this.#readRecord(this.#nameFile(reference));
  }

  /** Records that this image was built from the bundle with this digest. */
  recordBuild(bundleDigest: string, digest: string): Promise<void> {
    return this.#writeRecord(this.#builtFile(bundleDigest), { digest });
  }

  builtFrom(bundleDigest: string): Promise<string | undefined> {
    return this.#readRecord(this.#builtFile(bundleDigest));
  }

  /** The unpacked file system, created once for all processes. */
  rootfs(image: StoredImage): Promise<string> {
    const known = this.#unpacked.get(image.digest);
    if (known) return known;
    const unpacked = this.#unpack(image);
    this.#unpacked.set(image.digest, unpacked);
    // Not cached, because the cause may be fixed, e.g. by freeing disk space.
    unpacked.catch(() => this.#unpacked.delete(image.digest));
    return unpacked;
  }

  /** Applies the layers of an image, after checking their digests. */
  async tree(image: StoredImage): Promise<FileTree> {
    const tree = new FileTree(this.limits);
    for (const { digest } of image.layers) {
      await this.blobs.verify(digest);
      await applyLayer(tree, this.blobs.path(digest), { limits: this.limits });
    }
    // Counted again at the end, because many hard links can refer to the same bytes.
    if (treeBytes(tree.root) > this.limits.bytes) throw tooLarge(this.limits);
    requirePlainMountPoints(tree);
    return tree;
  }

  async #unpack(image: StoredImage): Promise<string> {
    const target = join(this.folder, 'rootfs', hexOf(image.digest));
    if (existsSync(target)) return target;
    this.#onProgress('Unpacking the image; this is done only once …');
    await this.#putInPlace('the unpacked image', target, async (draft) =>
      writeTree(await this.tree(image), draft),
    );
    return target;
  }

  async #archive(digest: string): Promise<string> {
    const target = join(this.folder, 'archives', `${hexOf(digest)}.tar`);
    if (existsSync(target)) return target;
    await this.#makeFolder(dirname(target));
    const archives = new Blobs(dirname(target));
    const made = await archives.write(writeArchive(this.blobs, digest));
    await rename(archives.path(made.digest), target);
    return target;
  }

  /** Each image has its own layout, so that an engine cannot load another image from it. */
  async #layOut(digest: string): Promise<void> {
    const target = this.#layout(digest);
    if (existsSync(target)) return;
    await this.#putInPlace('the layout of an image', target, async (draft) => {
      const blobs = join(draft, 'blobs', 'sha256');
      await mkdir(blobs, { recursive: true });
      const manifest = await this.blobs.read(digest);
      const { config, layers } = parseManifest(manifest);
      const parts = new Set([digest, config.digest, ...layers.map((layer) => layer.digest)]);
      for (const part of parts) await link(this.blobs.path(part), join(blobs, hexOf(part)));
      await writeFile(join(draft, 'oci-layout'), LAYOUT_FILE);
      await writeFile(join(draft, 'index.json'), makeIndex(manifest, `sha256-${hexOf(digest)}`));
      await chmod(draft, 0o755);
    });
  }

  /** `fill` writes into an empty private folder. If two processes do this, the first one's result is kept. */
  async #putInPlace(what: string, target: string, fill: (draft: string) => Promise<void>): Promise<void> {
    await this.#makeFolder(dirname(target));
    await sweepDrafts(dirname(target));
    const make = async (draft: string): Promise<void> => {
      await mkdir(draft, { mode: 0o700 });
      await fill(draft);
    };
    await publish(target, make, { keepsExisting: true, hideIn: dirname(target) }).catch((error: unknown) => {
      throw writingFailed(what, error);
    });
  }

  #layout(digest: string): string {
    return join(this.folder, 'layouts', hexOf(digest));
  }

  #nameFile(reference: string): string {
    return join(this.folder, 'names', `${sha256(reference)}.json`);
  }

  #builtFile(bundleDigest: string): string {
    return join(this.folder, 'built', `${hexOf(bundleDigest)}.json`);
  }

  async #writeRecord(file: string, note: { digest: string; reference?: string }): Promise<void> {
    await this.#makeFolder(dirname(file));
    await publish(file, (draft) => writeFile(draft, JSON.stringify(note)));
  }

  async #readRecord(file: string): Promise<string | undefined> {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const { digest } = JSON.parse(text) as { digest?: unknown };
    return typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined;
  }

  /** Private to this user. A root host protects the home itself and allows traversal, which its cells need as other users. */
  async #makeFolder(folder: string): Promise<void> {
    for (const one of [this.folder, folder]) {
      await mkdir(one, { recursive: true });
      await chmod(one, process.getuid?.() === 0 ? 0o711 : 0o700);
    }
  }
}

/** Runtimes mount over these folders. If /dev were a link, runc would follow it and write to the host. */
const MOUNT_POINTS = ['dev', 'proc', 'sys'];

function requirePlainMountPoints(tree: FileTree): void {
  for (const name of MOUNT_POINTS) {
    const node = tree.at(name);
    if (node && node.kind !== 'folder') throw imageRefused(`its /${name} is a ${node.kind}, not a folder`);
  }
}
