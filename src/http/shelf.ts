/**
 * The skills of the registries, each loaded and verified once, and again when its folder changes. Callers can name skills
 * only by id: no request can point at a folder.
 *
 * @module
 */
import {
  BUNDLED_PREFIX,
  nameMatches,
  SkillError,
  type BundleLocation,
  type Runtime,
  type Skill,
} from '../inside.ts';
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
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  list(): BundleLocation[] {
    return [...this.#known().values()];
  }

  /** Throws `skill_unavailable` if there is no such skill. */
  locate(name: string): BundleLocation {
    const found = this.#known().get(name) ?? this.#bundled(name);
    if (found) return found;
    throw new SkillError('skill_unavailable', `Unknown skill ${JSON.stringify(name.slice(0, 200))}`, {
      fix: 'See GET /v1/skills for the names of all skills.',
    });
  }

  /** Ids of the skills that a pattern covers. Throws `skill_unavailable` if there are none. */
  matching(pattern: string): string[] {
    const ids = [...this.#known().keys()].filter((id) => nameMatches(pattern, id));
    return ids.length > 0 ? ids : [this.locate(pattern).ref];
  }

  /** The offered skill that `bundled:<id>` refers to. */
  #bundled(name: string): BundleLocation | undefined {
    if (!name.startsWith(BUNDLED_PREFIX)) return undefined;
    const found = this.#known().get(name.slice(BUNDLED_PREFIX.length));
    return found?.origin === 'bundled' ? found : undefined;
  }

  /** Resolves with the verified skill; rejects if it is invalid. */
  load({ ref, dir }: BundleLocation): Promise<Skill> {
    const known = this.#shelved.get(ref);
    // An image tag may have moved, or packages been reinstalled, while the bundle stayed the same.
    if (known && isFresh(known)) return known.loading.then((skill) => this.#runtime.pin(skill));
    const startedAt = Date.now();
    const shelved: ShelfEntry = {
      // By id, because an id claimed by two folders is refused.
      loading: this.#runtime.load(ref),
      fingerprint: undefined,
      retryAt: Number.POSITIVE_INFINITY,
      checkedAt: performance.now(),
    };
    this.#shelved.set(ref, shelved);
    const keep = (files: readonly string[]): void => {
      const fingerprint = takeFingerprint(dir, files);
      // A change during the read means that it must be read again.
      if (fingerprint.changedAt < startedAt) shelved.fingerprint = fingerprint;
      else this.#drop(ref, shelved);
    };
    shelved.loading
      .then(
        ({ bundle }) => keep(Object.keys(bundle.files)),
        (error: unknown) => {
          if (!isPermanent(error)) return this.#drop(ref, shelved);
          // Remembers the failure, because a hostile bundle is expensive to read and every caller may list skills.
          const { files, isWhole } = listFiles(dir);
          if (!isWhole) shelved.retryAt = performance.now() + RETRY_MS;
          return keep(files);
        },
      )
      // A folder that cannot be listed is read again on the next request.
      .catch(() => this.#drop(ref, shelved));
    return shelved.loading;
  }

  #drop(ref: string, shelved: ShelfEntry): void {
    if (this.#shelved.get(ref) === shelved) this.#shelved.delete(ref);
  }

  #known(): Map<string, BundleLocation> {
    const now = performance.now();
    if (now - this.#listedAt < FRESH_MS) return this.#locations;
    this.#locations = new Map(this.#runtime.offered().map((location) => [location.ref, location]));
    this.#listedAt = now;
    return this.#locations;
  }
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
