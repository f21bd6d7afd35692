/**
 * Decides which skills may be called and with which parameters: applies the operator's rules, signatures, approvals and
 * guards before every call. No later stage can widen its decision.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { namesakesOf, type SkillPlaces } from '../load/locate.ts';
import { admit, type AskPerson, type Namesake, type TrustRules } from '../trust/admission.ts';
import type { Approvals } from '../trust/approvals.ts';
import type { Guard, GuardAnswer, GuardRule } from '../trust/guard.ts';
import { originOf } from '../trust/origin.ts';
import { standingOf, type Standing } from '../trust/standing.ts';
import { rulesOf } from './combine.ts';
import type { Grant } from './grant.ts';
import { isInside, realOrGiven } from './kept-places.ts';
import { guardCall } from './guard-call.ts';
import type { OperatorPolicy } from './operator.ts';

export interface GatekeeperOptions {
  policy: OperatorPolicy;
  places: SkillPlaces;
  guard?: Guard | undefined;
  askPerson?: AskPerson | undefined;
  approvals: Approvals;
  /** The folder around the skills that tenants uploaded. */
  uploads: string;
}

/** A call that a caller proposes. */
export interface ProposedCall {
  params: unknown;
  /** The rules whose conditions hold for large parameters. */
  holding?: ReadonlySet<GuardRule> | undefined;
  grant: Grant;
  /** Name of the caller. */
  caller: string;
}

export class Gatekeeper {
  readonly approvals: Approvals;
  readonly #options: GatekeeperOptions;
  /** A bundle is loaded once, from one place, and every call of it asks. */
  readonly #uploaded = new WeakMap<Bundle, boolean>();

  constructor(options: GatekeeperOptions) {
    this.#options = options;
    this.approvals = options.approvals;
  }

  /** The same, without what is approved after this time. */
  asOf(time: string): Gatekeeper {
    return new Gatekeeper({ ...this.#options, approvals: this.approvals.asOf(time) });
  }

  /** Throws unless this skill may be called at all. A call `isInner` to another asks nobody. */
  admit(bundle: Bundle, isInner = false): Promise<void> {
    const { places } = this.#options;
    const askPerson = isInner ? undefined : this.#options.askPerson;
    const isUpload = this.#isUpload(bundle);
    const { manifest, sourceDir, origin } = bundle;
    const namesakes = (): Namesake[] => {
      // Nothing takes its name from a bundled skill.
      if (origin === 'bundled') return [];
      const { others, isRegistered } = namesakesOf(manifest.name, sourceDir, places);
      const mayReplace = isRegistered && origin !== 'external';
      return others.map((dir) => ({ dir, givesWay: mayReplace && originOf(dir, places) === 'bundled' }));
    };
    return admit({ bundle, rules: this.#rules(), approvals: this.approvals, namesakes, askPerson, isUpload });
  }

  /** Throws unless it may be called with these parameters; returns undefined if there is no guard. */
  async guard(bundle: Bundle, call: ProposedCall, isInner = false): Promise<GuardAnswer | undefined> {
    const { policy, guard: own } = this.#options;
    const askPerson = isInner ? undefined : this.#options.askPerson;
    const { guard: rules = [] } = policy;
    if (rules.length === 0 && !own) return undefined;
    return guardCall({ bundle, ...call }, { rules, own, askPerson });
  }

  /** The skill's trust status, for people. */
  standing(bundle: Bundle): Promise<Standing> {
    const { approvals } = this;
    return standingOf(bundle, { rules: this.#rules(), approvals, isUpload: this.#isUpload(bundle) });
  }

  #isUpload(bundle: Bundle): boolean {
    const known = this.#uploaded.get(bundle);
    if (known !== undefined) return known;
    const found = isInside(bundle.sourceDir, realOrGiven(this.#options.uploads));
    this.#uploaded.set(bundle, found);
    return found;
  }

  #rules(): TrustRules[] {
    return rulesOf(this.#options.policy);
  }
}
