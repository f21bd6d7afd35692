/**
 * The skills of a worker: its own if they have the digest that the caller saw, otherwise those that arrive by digest.
 *
 * @module
 */
import { existsSync, rmSync } from 'node:fs';
import type { Skill } from '../load/skill.ts';
import type { Runtime } from '../runtime.ts';
import { bundleFolder, otherDigest, unpackBundle, writeBundle } from './bundles.ts';
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
    let dir = bundleFolder(runtime.home, digest);
    if (!existsSync(dir)) {
      const bytes = await stores.getBundle(tenant, digest);
      if (!bytes) throw otherDigest(name, digest, undefined);
      dir = writeBundle(runtime.home, digest, unpackBundle(bytes));
    }
    const skill = await runtime.load(dir);
    if (skill.bundle.digest === digest) return skill;
    rmSync(dir, { recursive: true, force: true });
    throw otherDigest(name, digest, skill.bundle.digest);
  }
}
