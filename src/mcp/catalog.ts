/**
 * The skills that clients get to see, read and verified ahead of their calls.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { SkillError, type BundleLocation, type Runtime, type Skill } from '../index.ts';
import { fingerprintOf } from './fingerprint.ts';
import { toolFor, type SkillTool } from './tool.ts';

export interface CatalogEntry {
  skill: Skill;
  tool: SkillTool;
}

/** By the name of the tool, in the order of the names. */
export type Entries = ReadonlyMap<string, CatalogEntry>;

export interface CatalogOptions {
  runtime: Runtime;
  /** Gets a sentence for each skill that is left out. */
  onProblem: (text: string) => void;
}

/** What another try cannot change, as long as the files are the same. Anything else may be a busy machine. */
const LASTING: ReadonlySet<string> = new Set([
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
  /** By folder: what has not changed is not read again. */
  readonly #loaded = new Map<string, Loaded>();
  #entries: Promise<Entries> | undefined;
  /** When what failed for no lasting reason is tried again, if somebody asks. */
  #retryAt = Number.POSITIVE_INFINITY;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  entries(): Promise<Entries> {
    if (Date.now() >= this.#retryAt) this.#entries = undefined;
    this.#entries ??= this.#load().catch((error: unknown) => {
      // The next who asks tries again.
      this.#entries = undefined;
      throw error;
    });
    return this.#entries;
  }

  /** Reads what changed; true when clients would see a difference. */
  async reload(): Promise<boolean> {
    const before = await this.entries();
    const next = await this.#load();
    this.#entries = Promise.resolve(next);
    return shapeOf(before) !== shapeOf(next);
  }

  async #load(): Promise<Entries> {
    this.#retryAt = Number.POSITIVE_INFINITY;
    const locations = this.#options.runtime.list();
    this.#forget(new Set(locations.map(({ dir }) => dir)));
    const skills = await inTurns(locations, (location) => this.#read(location));
    const found = skills.filter((skill) => skill !== undefined);
    const callable = await Promise.all(found.map((skill) => this.#isCallable(skill)));
    return this.#arrange(found.filter((_, at) => callable[at]));
  }

  #forget(present: ReadonlySet<string>): void {
    for (const dir of this.#loaded.keys()) if (!present.has(dir)) this.#loaded.delete(dir);
  }

  async #read({ ref, dir }: BundleLocation): Promise<Skill | undefined> {
    const fingerprint = fingerprintOf(dir);
    const known = this.#loaded.get(dir);
    if (known?.fingerprint === fingerprint) return known.skill;
    const skill = await this.#tryLoad(ref, dir);
    if (skill === 'later') return undefined;
    this.#loaded.set(dir, { fingerprint, skill });
    return skill;
  }

  async #tryLoad(ref: string, dir: string): Promise<Skill | 'later' | undefined> {
    try {
      const skill = await this.#options.runtime.load(dir);
      // One that can be no tool must not take the others away.
      toolFor(skill);
      return skill;
    } catch (error) {
      const reason = error instanceof SkillError ? error.message : String(error);
      this.#options.onProblem(`The skill ${ref} is left out: ${reason}`);
      if (error instanceof SkillError && LASTING.has(error.code)) return undefined;
      this.#retryAt = Date.now() + RETRY_MS;
      return 'later';
    }
  }

  /** One that the operator denies is not even shown. One that waits for approval is, and its calls say so. */
  async #isCallable(skill: Skill): Promise<boolean> {
    const { rule } = await this.#options.runtime.standing(skill);
    return rule.decision !== 'deny';
  }

  /** A name that two skills claim belongs to neither: a skill never silently takes the place of another. */
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
    this.#options.onProblem(`More than one skill would be the tool ${name}: ${folders} are left out`);
    return [];
  }
}

/** What clients see of all skills, in a form that can be compared. */
function shapeOf(entries: Entries): string {
  return JSON.stringify([...entries.values()].map(({ tool, skill }) => [tool, skill.bundle.instructions]));
}

/** A few at a time: each may need a jail to be looked at, and all at once would starve each other. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker));
  return results;
}
