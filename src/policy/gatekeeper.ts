/**
 * Who may be called, and with what: the operator's rules, signatures, approvals and guards, asked in front of every
 * call. Nothing behind it can widen what it let through.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { namesakesOf, type SkillPlaces } from '../load/locate.ts';
import { admit, type AskPerson, type TrustRules } from '../trust/admission.ts';
import { Approvals } from '../trust/approvals.ts';
import type { Guard, GuardAnswer, GuardRule } from '../trust/guard.ts';
import { standingOf, type Standing } from '../trust/standing.ts';
import { rulesOf } from './combine.ts';
import type { Grant } from './grant.ts';
import { guardCall } from './guard-call.ts';
import type { OperatorPolicy } from './operator.ts';

export interface GatekeeperOptions {
  policy: OperatorPolicy;
  places: SkillPlaces;
  guard?: Guard | undefined;
  askPerson?: AskPerson | undefined;
}

/** What somebody wants to call a skill with. */
export interface ProposedCall {
  params: unknown;
  /** The rules whose conditions hold for large parameters. */
  holding?: ReadonlySet<GuardRule> | undefined;
  grant: Grant;
  /** Who calls. */
  caller: string;
}

export class Gatekeeper {
  readonly approvals: Approvals;
  readonly #options: GatekeeperOptions;

  constructor(options: GatekeeperOptions) {
    this.#options = options;
    this.approvals = new Approvals(options.places.home);
  }

  /** Returns when this skill may be called at all. */
  admit(bundle: Bundle): Promise<void> {
    const { places, askPerson } = this.#options;
    const namesakes = (): string[] => namesakesOf(bundle.manifest.name, bundle.sourceDir, places);
    return admit({ bundle, rules: this.#rules(), approvals: this.approvals, namesakes, askPerson });
  }

  /** Returns when it may be called with these parameters; undefined when nobody has a say in that. */
  async guard(bundle: Bundle, call: ProposedCall): Promise<GuardAnswer | undefined> {
    const { policy, guard: own, askPerson } = this.#options;
    const { guard: rules = [] } = policy;
    if (rules.length === 0 && !own) return undefined;
    return guardCall({ bundle, ...call }, { rules, own, askPerson });
  }

  /** How a skill stands, for people. */
  standing(bundle: Bundle): Promise<Standing> {
    return standingOf(bundle, this.#rules(), this.approvals);
  }

  #rules(): TrustRules[] {
    return rulesOf(this.#options.policy);
  }
}
