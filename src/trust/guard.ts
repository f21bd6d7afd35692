/**
 * The word of the operator on one call before it is made: allow, deny, or ask, from rules over the skill, its
 * arguments, its caller and what it is granted. The strictest answer counts, and every answer has its reasons.
 *
 * @module
 */
import { starMatches } from '../manifest/star-pattern.ts';
import { valuesAt } from './argument-path.ts';
import { nameMatches, type Decision } from './skill-rules.ts';

export type GuardedCapability = 'network' | 'filesystem' | 'env' | 'process';

/** A call that somebody wants to make. Plain data. */
export interface Proposal {
  skill: string;
  digest: string;
  caller: string;
  arguments: unknown;
  /** The kinds of capabilities that the call would have. */
  capabilities: GuardedCapability[];
}

/** Every test that is given must hold for at least one value at the path. */
export interface Condition {
  /** `$.order.amount`, `$.files[0]`, `$.items[*].price`. */
  path: string;
  exists?: boolean | undefined;
  equals?: unknown;
  /** Text with `*` for any text. */
  like?: string | undefined;
  above?: number | undefined;
  below?: number | undefined;
}

/** Everything that is given must hold for the rule to speak. */
export interface GuardRule {
  skill?: string | undefined;
  caller?: string | undefined;
  capability?: GuardedCapability | undefined;
  arguments?: Condition[] | undefined;
  decision: Decision;
  reason: string;
}

export interface GuardAnswer {
  decision: Decision;
  reasons: string[];
}

/** A guard of the library's user. */
export type Guard = (proposal: Proposal) => GuardAnswer | Promise<GuardAnswer>;

const STRICTNESS: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

export function applyRules(rules: readonly GuardRule[], proposal: Proposal): GuardAnswer {
  const spoken = rules.filter((rule) => speaks(rule, proposal));
  return strictest(spoken.map(({ decision, reason }) => ({ decision, reasons: [reason] })));
}

/** The strictest of several answers, with the reasons of all that are as strict. */
export function strictest(answers: readonly GuardAnswer[]): GuardAnswer {
  const most = Math.max(0, ...answers.map(({ decision }) => STRICTNESS[decision]));
  const speaking = answers.filter(({ decision }) => STRICTNESS[decision] === most);
  return {
    decision: speaking[0]?.decision ?? 'allow',
    reasons: speaking.flatMap(({ reasons }) => reasons),
  };
}

function speaks(rule: GuardRule, proposal: Proposal): boolean {
  return (
    (rule.skill === undefined || nameMatches(rule.skill, proposal.skill)) &&
    (rule.caller === undefined || starMatches(rule.caller, proposal.caller)) &&
    (rule.capability === undefined || proposal.capabilities.includes(rule.capability)) &&
    (rule.arguments ?? []).every((condition) => holds(condition, proposal.arguments))
  );
}

function holds(condition: Condition, given: unknown): boolean {
  const values = valuesAt(condition.path, given);
  if (condition.exists === false) return values.length === 0;
  return values.some((value) => passes(condition, value));
}

function passes({ equals, like, above, below }: Condition, value: unknown): boolean {
  return (
    (equals === undefined || JSON.stringify(value) === JSON.stringify(equals)) &&
    (like === undefined || (typeof value === 'string' && starMatches(like, value))) &&
    (above === undefined || (typeof value === 'number' && value > above)) &&
    (below === undefined || (typeof value === 'number' && value < below))
  );
}
