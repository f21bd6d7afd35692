/**
 * The word of the operator on one call before it is made: allow, deny, or ask, from rules over the skill, its
 * arguments, its caller and what it is granted. The strictest answer counts, and every answer has its reasons.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { starMatches } from '../manifest/star-pattern.ts';
import { valuesAt } from './argument-path.ts';
import { nameMatches, STRICTNESS, type Decision } from './skill-rules.ts';

export type GuardedCapability = 'network' | 'filesystem' | 'env' | 'process';

/** A call that somebody wants to make. Plain data. */
export interface Proposal {
  skill: string;
  /** Other ids that lead to it; a rule for one of them speaks as well. */
  aliases?: readonly string[];
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
    (rule.skill === undefined || isAbout(rule.skill, proposal)) &&
    (rule.caller === undefined || starMatches(rule.caller, proposal.caller)) &&
    (rule.capability === undefined || proposal.capabilities.includes(rule.capability)) &&
    (rule.arguments ?? []).every((condition) => holds(condition, proposal.arguments))
  );
}

function isAbout(pattern: string, { skill, aliases = [] }: Proposal): boolean {
  return [skill, ...aliases].some((name) => nameMatches(pattern, name));
}

function holds(condition: Condition, given: unknown): boolean {
  const values = valuesAt(condition.path, given);
  if (condition.exists === false) return values.length === 0;
  return values.some((value) => passes(condition, value));
}

/**
 * A caller chooses how to write a value, and a rule that speaks only makes the answer stricter: so whatever a skill could
 * take for what the rule names counts as that.
 */
function passes(condition: Condition, value: unknown): boolean {
  const { equals, like, above, below } = condition;
  const number = numberIn(value);
  return (
    (equals === undefined || isDeepStrictEqual(plain(value), plain(equals))) &&
    (like === undefined || (typeof value === 'string' && starMatches(plainText(like), plainText(value)))) &&
    (above === undefined || number > above) &&
    (below === undefined || number < below)
  );
}

/** Also of a text that holds nothing else; no number for the rest. */
function numberIn(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(plainText(value)) : Number.NaN;
}

/** In one spelling; the order of keys means nothing in maps. */
function plain(value: unknown): unknown {
  if (value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object')
    return new Map(Object.entries(value).map(([key, item]) => [plainText(key), plain(item)]));
  const number = numberIn(value);
  return Number.isNaN(number)
    ? plainText(typeof value === 'string' ? value : JSON.stringify(value))
    : String(number);
}

/** Without what cannot be seen, and letters that only look different as one. */
function plainText(text: string): string {
  return text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}
