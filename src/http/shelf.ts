/**
 * The skills of the registries, each loaded and verified once, and again when its folder changes. Callers can name skills
 * only by id: no request can point at a folder.
 *
 * @module
 */
import { BUNDLED_PREFIX, SkillError, type BundleLocation, type Runtime, type Skill } from '../inside.ts';
import { isUntouched, listFiles, takeFingerprint, type Fingerprint } from './fingerprint.ts';

/** How long a check of the folders stays valid; changes are noticed after this time at the latest. */
const FRESH_MS = 1000;

/** How long until a bundle that is too large to fingerprint is read again. */
const RETRY_MS = 60_000;

interface ShelfEntry {
  loading: Promise<Skill>;
  /** When to read it again regardless of its fingerprint. */
  retryAt: number;
  /** Undefined until the skill is loaded. */
  fingerprint: Fingerprint | undefined;
  checkedAt: number;
}

export class Shelf {
  readonly #runtime: Runtime;
  readonly #shelved = new Map<string, ShelfEntry>();
  #locations = new Map<string, BundleLocation>();
  #taken: ReadonlySet<string> = new Set();
  #listedAt = Number.NEGATIVE_INFINITY;
  readonly #by: 'id' | 'folder';

  /** By id, because an id claimed by two folders is refused; skills of tenants have only their folder. */
  constructor(runtime: Runtime, by: 'by id' | 'by folder' = 'by id') {
    this.#runtime = runtime;
    this.#by = by === 'by id' ? 'id' : 'folder';
  }

  list(): BundleLocation[] {
    return [...this.#known().values()];
  }

  /** Throws `skill_unavailable` if there is no such skill. */
  locate(name: string): BundleLocation {
    const found = this.find(name);
    if (found) return found;
    throw unknownSkill(name);
  }

  find(name: string): BundleLocation | undefined {
    return this.#known().get(name) ?? this.#bundled(name);
  }

  /** Whether the operator has a skill of this id, offered or not. */
  isTaken(name: string): boolean {
    this.#known();
    return this.#taken.has(name);
  }

  /** The offered skill that `bundled:<id>` refers to. */
  #bundled(name: string): BundleLocation | undefined {
    if (!name.startsWith(BUNDLED_PREFIX)) return undefined;
    const found = this.#known().get(name.slice(BUNDLED_PREFIX.length));
    return found?.origin === 'bundled' ? found : undefined;
  }

  /** Resolves with the verified skill; rejects if it is invalid. */
  load({ ref, dir }: BundleLocation): Promise<Skill> {
    const key = this.#by === 'id' ? ref : dir;
    const known = this.#shelved.get(key);
    // An image tag may have moved, or packages been reinstalled, while the bundle stayed the same.
    if (known && isFresh(known)) return known.loading.then((skill) => this.#runtime.pin(skill));
    const startedAt = Date.now();
    const shelved: ShelfEntry = {
      loading: this.#runtime.load(key),
      fingerprint: undefined,
      retryAt: Number.POSITIVE_INFINITY,
      checkedAt: performance.now(),
    };
    this.#shelved.set(key, shelved);
    const keep = (files: readonly string[]): void => {
      const fingerprint = takeFingerprint(dir, files);
      // A change during the read means that it must be read again.
      if (fingerprint.changedAt < startedAt) shelved.fingerprint = fingerprint;
      else this.#drop(key, shelved);
    };
    shelved.loading
      .then(
        ({ bundle }) => keep(Object.keys(bundle.files)),
        (error: unknown) => {
          if (!isPermanent(error)) return this.#drop(key, shelved);
          // Remembers the failure, because a hostile bundle is expensive to read and every caller may list skills.
          const { files, isWhole } = listFiles(dir);
          if (!isWhole) shelved.retryAt = performance.now() + RETRY_MS;
          return keep(files);
        },
      )
      // A folder that cannot be listed is read again on the next request.
      .catch(() => this.#drop(key, shelved));
    return shelved.loading;
  }

  #drop(key: string, shelved: ShelfEntry): void {
    if (this.#shelved.get(key) === shelved) this.#shelved.delete(key);
  }

  #known(): Map<string, BundleLocation> {
    const now = performance.now();
    if (now - this.#listedAt < FRESH_MS) return this.#locations;
    const known = this.#runtime.list();
    this.#locations = new Map(this.#runtime.offered(known).map((location) => [location.ref, location]));
    const names = known.map(({ ref, ids, aliases }) => [[ref], ids ?? [], aliases ?? []]);
    this.#taken = new Set(names.flat(2));
    this.#listedAt = now;
    return this.#locations;
  }
}

/** The same answer for a skill of another tenant and for one that does not exist. */
export function unknownSkill(name: string): SkillError {
  return new SkillError('skill_unavailable', `Unknown skill ${JSON.stringify(name.slice(0, 200))}`, {
    fix: 'See GET /v1/skills for the names of all skills.',
  });
}

/** Errors in the bundle itself; others may be temporary. */
const BUNDLE_ERRORS: ReadonlySet<string> = new Set(['manifest_invalid', 'manifest_drift']);

function isPermanent(error: unknown): boolean {
  return error instanceof SkillError && BUNDLE_ERRORS.has(error.code);
}

function isFresh(shelved: ShelfEntry): boolean {
  const now = performance.now();
  if (now > shelved.retryAt) return false;
  if (!shelved.fingerprint || now - shelved.checkedAt < FRESH_MS) return true;
  shelved.checkedAt = now;
  return isUntouched(shelved.fingerprint);
}
