/**
 * The skills that clients can see, loaded and verified before they are called.
 *
 * @module
 */
import {
  SkillError,
  folderStamp,
  mapConcurrently,
  shadowWarnings,
  type BundleLocation,
  type Runtime,
  type Skill,
} from '../inside.ts';
import { toolFor, type SkillTool } from './tool.ts';

export interface CatalogEntry {
  skill: Skill;
  tool: SkillTool;
}

/** By tool name, sorted. */
export type Entries = ReadonlyMap<string, CatalogEntry>;

export interface CatalogOptions {
  runtime: Runtime;
  /** Receives a sentence for each skill that is left out. */
  onProblem: (text: string) => void;
}

/** Errors that a retry cannot fix while the files stay the same. Any other may be due to a busy machine. */
const PERMANENT_ERRORS: ReadonlySet<string> = new Set([
  'usage',
  'manifest_invalid',
  'manifest_drift',
  'unenforceable',
  'untrusted',
  'signature_invalid',
]);
const RETRY_MS = 2000;

interface Loaded {
  fingerprint: string;
  skill: Skill | undefined;
}

export class Catalog {
  readonly #options: CatalogOptions;
  /** By folder; unchanged folders are not read again. */
  readonly #loaded = new Map<string, Loaded>();
  #entries: Promise<Entries> | undefined;
  /** When the next request retries skills that failed for a temporary reason. */
  #retryAt = Number.POSITIVE_INFINITY;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  entries(): Promise<Entries> {
    if (Date.now() >= this.#retryAt) this.#entries = undefined;
    this.#entries ??= this.#load().catch((error: unknown) => {
      // The next request tries again.
      this.#entries = undefined;
      throw error;
    });
    return this.#entries;
  }

  /** Reads what changed; returns true if clients would see a difference. */
  async reload(): Promise<boolean> {
    const before = await this.entries();
    const next = await this.#load();
    this.#entries = Promise.resolve(next);
    return shapeOf(before) !== shapeOf(next);
  }

  async #load(): Promise<Entries> {
    this.#retryAt = Number.POSITIVE_INFINITY;
    const locations = this.#options.runtime.offered();
    this.#forget(new Set(locations.map(({ dir }) => dir)));
    const skills = await mapConcurrently(locations, (location) => this.#read(location));
    const found = skills.filter((skill) => skill !== undefined);
    const callable = await Promise.all(found.map((skill) => this.#isCallable(skill)));
    return this.#arrange(found.filter((_, at) => callable[at]));
  }

  #forget(present: ReadonlySet<string>): void {
    for (const dir of this.#loaded.keys()) if (!present.has(dir)) this.#loaded.delete(dir);
  }

  async #read(location: BundleLocation): Promise<Skill | undefined> {
    const { ref, dir } = location;
    const fingerprint = folderStamp(dir);
    const known = this.#loaded.get(dir);
    if (known?.fingerprint === fingerprint) return known.skill;
    for (const warning of shadowWarnings(location)) this.#options.onProblem(warning);
    const skill = await this.#tryLoad(ref, dir);
    if (skill === 'later') return undefined;
    this.#loaded.set(dir, { fingerprint, skill });
    return skill;
  }

  async #tryLoad(ref: string, dir: string): Promise<Skill | 'later' | undefined> {
    try {
      const skill = await this.#options.runtime.load(dir);
      // Throws here if the skill cannot become a tool, so that the others stay available.
      toolFor(skill);
      return skill;
    } catch (error) {
      const reason = error instanceof SkillError ? error.message : String(error);
      this.#options.onProblem(`Skipped the skill ${ref}: ${reason}`);
      if (error instanceof SkillError && PERMANENT_ERRORS.has(error.code)) return undefined;
      this.#retryAt = Date.now() + RETRY_MS;
      return 'later';
    }
  }

  /** A skill that the policy denies is hidden. One that needs approval is listed, and its calls report that. */
  async #isCallable(skill: Skill): Promise<boolean> {
    const { rule } = await this.#options.runtime.standing(skill);
    return rule.decision !== 'deny';
  }

  /** If two skills map to one name, neither gets it: a skill never silently replaces another. */
  #arrange(skills: readonly Skill[]): Entries {
    const byName = Map.groupBy(
      skills.map((skill) => ({ skill, tool: toolFor(skill) })),
      ({ tool }) => tool.name,
    );
    const names = [...byName.keys()].sort();
    return new Map(names.flatMap((name) => this.#single(name, byName.get(name) ?? [])));
  }

  #single(name: string, claims: CatalogEntry[]): [string, CatalogEntry][] {
    const [entry] = claims;
    if (entry && claims.length === 1) return [[name, entry]];
    const folders = claims.map(({ skill }) => JSON.stringify(skill.bundle.sourceDir)).join(' and ');
    this.#options.onProblem(`Several skills map to the tool name ${name}; skipped ${folders}`);
    return [];
  }
}

/** Everything that clients see, as text that can be compared. */
function shapeOf(entries: Entries): string {
  return JSON.stringify([...entries.values()].map(({ tool, skill }) => [tool, skill.bundle.instructions]));
}
