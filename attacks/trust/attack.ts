/**
 * What an attack on trust is: a trap, what its victim does, and the required answer. None of the attacker's code may run,
 * and nothing may be granted that no one agreed to.
 *
 * @module
 */
import type { Outcome } from '../../src/for-attacks.ts';
import type { Attack } from '../runner/attack.ts';
import type { ProofKind } from '../runner/proof.ts';
import type { TrustStage } from './stage.ts';

/** What a careless loader would fall for; undefined if it would not. */
export type Careless = (stage: TrustStage) => string | undefined | Promise<string | undefined>;

/** The control runs after the attempt, on the same stage. */
export interface TrustAttack extends Attack<Careless> {
  description: string;
  /** Sets the trap and walks into it. */
  attempt: (stage: TrustStage) => Promise<Outcome>;
  /** How the call shows that the act was reached; absent: by its answer. */
  proof?: ProofKind;
  /** Why the outcome shows that the act was not reached. */
  didNotRun?: (outcome: Outcome) => string | undefined;
}

type Entry = Omit<TrustAttack, 'name' | 'codes' | 'limits'>;

/** Attacks that must get the same answer, by name. */
export function group(
  codes: TrustAttack['codes'],
  entries: Readonly<Record<string, Entry>>,
  limits: TrustAttack['limits'] = [],
): TrustAttack[] {
  return Object.entries(entries).map(([name, entry]) => Object.assign({ name, codes, limits }, entry));
}
