/**
 * The skills of a worker: its own if they have the digest that the caller saw, otherwise those that arrive by digest.
 *
 * @module
 */
import { existsSync, rmSync } from 'node:fs';
import { SkillError } from '../errors.ts';
import { arrivedDir } from '../load/cluster-home.ts';
import type { Skill } from '../load/skill.ts';
import type { Runtime } from '../runtime.ts';
import { badBundle, digestOfFiles, otherDigest, unpackBundle, writeBundle } from './bundles.ts';
import type { Stores } from './stores.ts';

/** Loaded skills that a worker keeps and announces. */
const MAX_WARM = 64;

export interface WorkerSkillsOptions {
  runtime: Runtime;
  stores: Stores;
  /** False: only skills that are installed here. */
  acceptsBundles: boolean;
}

/** As a message names it. */
interface WantedSkill {
  name: string;
  digest: string;
}

export class WorkerSkills {
  readonly #options: WorkerSkillsOptions;
  /** By digest, the latest last. */
  readonly #loaded = new Map<string, Promise<Skill>>();

  constructor(options: WorkerSkillsOptions) {
    this.#options = options;
  }

  get warm(): string[] {
    return [...this.#loaded.keys()];
  }

  has(digest: string): boolean {
    return this.#loaded.has(digest);
  }

  async load(tenant: string, { name, digest }: WantedSkill): Promise<Skill> {
    const known = this.#loaded.get(digest);
    this.#loaded.delete(digest);
    const loading = known ?? this.#find(tenant, { name, digest });
    this.#loaded.set(digest, loading);
    loading.catch(() => this.#loaded.delete(digest));
    if (this.#loaded.size > MAX_WARM) this.#forgetOldest();
    const skill = await loading;
    // The object of another skill could have been put under this name.
    if (skill.bundle.manifest.name !== name) throw otherDigest(name, digest, undefined);
    return known ? this.#options.runtime.pin(skill) : skill;
  }

  #forgetOldest(): void {
    const [oldest] = this.#loaded.keys();
    if (oldest !== undefined) this.#loaded.delete(oldest);
  }

  async #find(tenant: string, { name, digest }: WantedSkill): Promise<Skill> {
    const { runtime, acceptsBundles } = this.#options;
    const own = await runtime.load(name).catch(() => undefined);
    if (own?.bundle.digest === digest) return own;
    if (acceptsBundles) return this.#fetch(tenant, { name, digest });
    throw otherDigest(name, digest, own?.bundle.digest);
  }

  async #fetch(tenant: string, { name, digest }: WantedSkill): Promise<Skill> {
    const { runtime, stores } = this.#options;
    const dir = arrivedDir(runtime.home, { name, digest });
    if (!existsSync(dir)) writeBundle(dir, await filesOf(stores, tenant, { name, digest }));
    const skill = await runtime.load(dir, { id: name });
    if (skill.bundle.digest === digest) return skill;
    rmSync(dir, { recursive: true, force: true });
    throw otherDigest(name, digest, skill.bundle.digest);
  }
}

/** The files of the bundle with this digest. Throws before anything is written if the object has others. */
async function filesOf(
  stores: Stores,
  tenant: string,
  { name, digest }: WantedSkill,
): Promise<Map<string, Buffer>> {
  let files: Map<string, Buffer>;
  try {
    const bytes = await stores.getBundle(tenant, digest);
    if (!bytes) throw otherDigest(name, digest, undefined);
    files = unpackBundle(bytes);
  } catch (error) {
    throw error instanceof SkillError && error.code === 'manifest_drift'
      ? error
      : badBundle(name, digest, error);
  }
  const found = digestOfFiles(files);
  if (found === digest) return files;
  throw badBundle(name, digest, `its files have the digest ${found.slice(0, 19)}…`);
}
