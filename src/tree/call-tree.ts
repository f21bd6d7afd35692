/**
 * A call and all calls below it: which skills they may use, at which version, and what they may use up together.
 *
 * @module
 */
import type { HostFolders } from '../calls/host-folders.ts';
import type { Lineage } from '../calls/lineage.ts';
import { toSkillError, type ErrorBody } from '../errors.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { BUNDLED_PREFIX } from '../load/locate.ts';
import type { Skill } from '../load/skill.ts';
import type { ChildCall, Outcome } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { nameMatches } from '../trust/skill-rules.ts';
import { Budget, type TreeLimits } from './budget.ts';
import { Flows } from './flows.ts';

/** The place of a call below another. */
export interface Above {
  tree: CallTree;
  lineage: Lineage;
  /** Worker threads are shared fairly between tenants. */
  tenant: string | undefined;
  /** Values that the calls above may use, by name; they are removed from everything that leaves this call too. */
  secrets: ReadonlyMap<string, string>;
  /** Skills whose data it may have been given. */
  sources: ReadonlySet<string>;
  /** Told at the end of the call: the skills whose data its result may contain. */
  onSources: (sources: ReadonlySet<string>) => void;
}

export interface InnerCall {
  /** The name of one that cannot be loaded. */
  ref: Skill | string;
  /** JSON text */
  params: unknown;
  above: Above;
  signal: AbortSignal;
}

export interface TreeOptions {
  /** When the first call began. */
  began: string;
  /** All skills, when the first call of the tree began. */
  known: () => readonly BundleLocation[];
  load: (ref: string) => Promise<Skill>;
  /** Makes one call; a failure is an outcome. */
  make: (call: InnerCall) => Promise<Outcome>;
  /** What a skill would be granted under the policy and the options of the first call. */
  grant: (skill: Skill) => Promise<Grant>;
  hostFolders: () => HostFolders;
  limits?: Partial<TreeLimits> | undefined;
}

/** Children that an outcome lists; receipts have them all. */
const MAX_LISTED = 1000;

export class CallTree {
  /** What is approved later does not count. */
  readonly began: string;
  readonly budget: Budget;
  readonly flows: Flows = new Flows();
  readonly children: ChildCall[] = [];
  readonly #options: TreeOptions;
  readonly #skills = new Map<string, Promise<Skill>>();
  /** By digest of the bundle. */
  readonly #ceilings = new Map<string, Promise<Grant>>();
  #known: Refs | undefined;
  #folders: HostFolders | undefined;
  #made = 0;

  constructor(options: TreeOptions) {
    this.#options = options;
    this.began = options.began;
    this.budget = new Budget(options.limits);
  }

  /** How to load the skill, if one of the patterns covers it and it was there when the tree began. */
  refOf(patterns: readonly string[], name: string): string | undefined {
    // The usual case, for which no registry has to be read.
    const exact = patterns.find((pattern) => withoutPrefix(pattern) === name);
    if (exact !== undefined) return exact;
    const covers = (pattern: string): boolean => nameMatches(withoutPrefix(pattern), name);
    const [bundled, others] = [patterns.filter(isForBundled), patterns.filter((one) => !isForBundled(one))];
    if (others.some(covers)) return this.#refs.first.get(name);
    return bundled.some(covers) ? this.#refs.bundled.get(name) : undefined;
  }

  /** The skill, at the version that the first call of this tree to it found. */
  skill(ref: string): Promise<Skill> {
    const skill = this.#skills.get(ref) ?? this.#options.load(ref);
    this.#skills.set(ref, skill);
    return skill;
  }

  /** The most that a call of this skill may be granted in this tree. */
  ceiling(skill: Skill): Promise<Grant> {
    const { digest } = skill.bundle;
    const ceiling = this.#ceilings.get(digest) ?? this.#options.grant(skill);
    this.#ceilings.set(digest, ceiling);
    return ceiling;
  }

  /** What the outcome of the first call says about those below it. */
  get summary(): Pick<Outcome, 'children' | 'children_cut' | 'flows'> {
    const { children, flows } = this;
    const cut = this.#made - children.length;
    return {
      ...(children.length > 0 ? { children } : {}),
      ...(cut > 0 ? { children_cut: cut } : {}),
      ...(flows.all.length > 0 ? { flows: flows.all } : {}),
    };
  }

  async make(call: InnerCall): Promise<Outcome> {
    const outcome = await this.#options.make(call);
    this.#made++;
    this.budget.spend(outcome.usage);
    if (this.children.length < MAX_LISTED) this.children.push(childOf(outcome, call.above.lineage));
    return outcome;
  }

  /** An error as a cell may see it: without paths of the host. */
  errorForCell(thrown: unknown): ErrorBody {
    this.#folders ??= this.#options.hostFolders();
    return this.#folders.error(toSkillError(thrown).toBody());
  }

  /** A text as a cell may see it. */
  textForCell(text: string): string {
    this.#folders ??= this.#options.hostFolders();
    return this.#folders.text(text);
  }

  get #refs(): Refs {
    this.#known ??= refsOf(this.#options.known());
    return this.#known;
  }
}

/** How to load each skill, by id. */
interface Refs {
  /** A bundled skill that gives way to another is not what its id means. */
  first: ReadonlyMap<string, string>;
  bundled: ReadonlyMap<string, string>;
}

function refsOf(known: readonly BundleLocation[]): Refs {
  const entries = (list: readonly BundleLocation[]): ReadonlyMap<string, string> =>
    new Map(list.map(({ ref }) => [withoutPrefix(ref), ref]));
  return {
    first: new Map([
      ...entries(known.filter(({ ref }) => isForBundled(ref))),
      ...entries(known.filter(({ ref }) => !isForBundled(ref))),
    ]),
    bundled: entries(known.filter(({ origin }) => origin === 'bundled')),
  };
}

function isForBundled(ref: string): boolean {
  return ref.startsWith(BUNDLED_PREFIX);
}

function withoutPrefix(ref: string): string {
  return isForBundled(ref) ? ref.slice(BUNDLED_PREFIX.length) : ref;
}

function childOf(outcome: Outcome, { parent, depth }: Lineage): ChildCall {
  const { call_id, skill, usage } = outcome;
  const code = outcome.ok ? 'ok' : outcome.error.code;
  return { call_id, parent, depth, skill: skill.name, digest: skill.digest, code, wall_ms: usage.wall_ms };
}
