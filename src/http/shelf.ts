/**
 * The skills of the registries, each read and verified once, and again when its folder was touched. Callers name skills
 * by their ids alone: no request can point at a folder.
 *
 * @module
 */
import { SkillError, type BundleLocation, type Runtime, type Skill } from '../index.ts';
import { isUntouched, listFiles, takeFingerprint, type Fingerprint } from './fingerprint.ts';

/** How long a look at the folders is good for: a change counts after so long at the latest. */
const FRESH_MS = 1000;

/** A bundle that cannot be fingerprinted whole is tried again after so long. */
const RETRY_MS = 60_000;

interface Shelved {
  loading: Promise<Skill>;
  /** When to read it again whatever its fingerprint says. */
  retryAt: number;
  /** Undefined until it is loaded. */
  fingerprint: Fingerprint | undefined;
  checkedAt: number;
}

export class Shelf {
  readonly #runtime: Runtime;
  readonly #shelved = new Map<string, Shelved>();
  #locations = new Map<string, BundleLocation>();
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  list(): BundleLocation[] {
    return [...this.#known().values()];
  }

  /** Throws `skill_unavailable` when there is no such skill. */
  locate(name: string): BundleLocation {
    const found = this.#known().get(name);
    if (found) return found;
    throw new SkillError(
      'skill_unavailable',
      `There is no skill ${JSON.stringify(name.slice(0, 200))} here`,
      {
        fix: 'See GET /v1/skills for the names of all skills.',
      },
    );
  }

  /** The verified skill; rejects with what is wrong with it. */
  load({ ref, dir }: BundleLocation): Promise<Skill> {
    const known = this.#shelved.get(ref);
    // A tag may have been moved, or packages installed again, while the bundle stayed as it is.
    if (known && isFresh(known)) return known.loading.then((skill) => this.#runtime.pin(skill));
    const startedAt = Date.now();
    const shelved: Shelved = {
      // By its id: one that two folders claim is refused.
      loading: this.#runtime.load(ref),
      fingerprint: undefined,
      retryAt: Number.POSITIVE_INFINITY,
      checkedAt: performance.now(),
    };
    this.#shelved.set(ref, shelved);
    const keep = (files: readonly string[]): void => {
      const fingerprint = takeFingerprint(dir, files);
      // What changed while it was read is read again.
      if (fingerprint.changedAt < startedAt) shelved.fingerprint = fingerprint;
      else this.#drop(ref, shelved);
    };
    shelved.loading
      .then(
        ({ bundle }) => keep(Object.keys(bundle.files)),
        (error: unknown) => {
          if (!isForGood(error)) return this.#drop(ref, shelved);
          // A hostile bundle costs the same each time it is read, and anybody may ask for the list of skills.
          const { files, isWhole } = listFiles(dir);
          if (!isWhole) shelved.retryAt = performance.now() + RETRY_MS;
          return keep(files);
        },
      )
      // A folder that cannot even be looked at is read again with the next request.
      .catch(() => this.#drop(ref, shelved));
    return shelved.loading;
  }

  #drop(ref: string, shelved: Shelved): void {
    if (this.#shelved.get(ref) === shelved) this.#shelved.delete(ref);
  }

  #known(): Map<string, BundleLocation> {
    const now = performance.now();
    if (now - this.#listedAt < FRESH_MS) return this.#locations;
    this.#locations = new Map(this.#runtime.list().map((location) => [location.ref, location]));
    this.#listedAt = now;
    return this.#locations;
  }
}

/** Failures that lie in the bundle itself; others may pass by themselves. */
const OF_THE_BUNDLE: ReadonlySet<string> = new Set(['manifest_invalid', 'manifest_drift']);

function isForGood(error: unknown): boolean {
  return error instanceof SkillError && OF_THE_BUNDLE.has(error.code);
}

function isFresh(shelved: Shelved): boolean {
  const now = performance.now();
  if (now > shelved.retryAt) return false;
  if (!shelved.fingerprint || now - shelved.checkedAt < FRESH_MS) return true;
  shelved.checkedAt = now;
  return isUntouched(shelved.fingerprint);
}
