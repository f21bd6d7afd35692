/**
 * What an attack on trust is: a trap, what its victim does, and what must come of it. Nothing of the attacker may run, and
 * nothing may be granted that nobody agreed to.
 *
 * @module
 */
import type { Outcome } from '../../src/outcome.ts';
import type { Attack } from '../runner/expectations.ts';
import type { TrustStage } from './stage.ts';

/** What a careless loader would fall for; undefined when it would not. */
export type Careless = (stage: TrustStage) => string | undefined | Promise<string | undefined>;

export interface TrustAttack extends Pick<Attack, 'codes' | 'limits'> {
  name: string;
  description: string;
  /** Sets the trap and walks into it. */
  attempt: (stage: TrustStage) => Promise<Outcome>;
  /** Runs after the attempt, on the same stage. */
  control: Careless | { none: string };
}

type Entry = Omit<TrustAttack, 'name' | 'codes' | 'limits'>;

/** Attacks that must get the same answer, by name. */
export function group(codes: Attack['codes'], entries: Readonly<Record<string, Entry>>): TrustAttack[] {
  return Object.entries(entries).map(([name, entry]) => Object.assign({ name, codes, limits: [] }, entry));
}
