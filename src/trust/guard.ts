/**
 * Applies the operator's rules to one call before it is made: allow, deny, or ask, depending on the skill, its
 * arguments, its caller and its grant. The strictest answer counts, and every answer has its reasons.
 *
 * @module
 */
import { starMatches } from '../manifest/star-pattern.ts';
import { valuesAt } from './argument-path.ts';
import { numbersIn, plainText } from './spelling.ts';
import type { GuardedCapability } from '../vocabulary/capabilities.ts';
import { STRICTNESS, type Decision } from '../vocabulary/decisions.ts';
import { nameMatches } from '../manifest/star-pattern.ts';

/** A proposed call, as plain data. */
export interface Proposal {
  skill: string;
  /** Other ids that refer to it; a rule for one of them also applies. */
  aliases?: readonly string[];
  digest: string;
  caller: string;
  arguments: unknown;
  /** The kinds of capabilities that the call would have. */
  capabilities: GuardedCapability[];
}

/** Every given test must hold for at least one value at the path. */
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

/** A rule of the guard; it applies if everything in it holds. */
export interface GuardRule {
  skill?: string | undefined;
  caller?: string | undefined;
  capability?: GuardedCapability | undefined;
  arguments?: Condition[] | undefined;
  decision: Decision;
  reason: string;
}

/** The decision of the guard about a call, and why. */
export interface GuardAnswer {
  decision: Decision;
  reasons: string[];
}

/** A guard of the embedding program. */
export type Guard = (proposal: Proposal) => GuardAnswer | Promise<GuardAnswer>;

/** `holding`: the rules whose conditions on arguments hold, if a worker thread has evaluated them. */
export function applyRules(
  rules: readonly GuardRule[],
  proposal: Proposal,
  holding?: ReadonlySet<GuardRule>,
): GuardAnswer {
  const applicable = rules.filter(
    (rule) => appliesTo(rule, proposal) && (holding?.has(rule) ?? argumentsHold(rule, proposal.arguments)),
  );
  return strictest(applicable.map(({ decision, reason }) => ({ decision, reasons: [reason] })));
}

/** The strictest of several answers, with the reasons of all equally strict ones. */
export function strictest(answers: readonly GuardAnswer[]): GuardAnswer {
  const most = Math.max(0, ...answers.map(({ decision }) => STRICTNESS[decision]));
  const strictestAnswers = answers.filter(({ decision }) => STRICTNESS[decision] === most);
  return {
    decision: strictestAnswers[0]?.decision ?? 'allow',
    reasons: strictestAnswers.flatMap(({ reasons }) => reasons),
  };
}

function appliesTo(rule: GuardRule, proposal: Proposal): boolean {
  return (
    (rule.skill === undefined || isAbout(rule.skill, proposal)) &&
    (rule.caller === undefined || starMatches(rule.caller, proposal.caller)) &&
    (rule.capability === undefined || proposal.capabilities.includes(rule.capability))
  );
}

/** Do all conditions of the rule on arguments hold? */
export function argumentsHold(rule: GuardRule, given: unknown): boolean {
  return (rule.arguments ?? []).every((condition) => holds(condition, given));
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
 * A caller chooses the spelling of a value, and a match can only make the answer stricter, so any value that a skill
 * could read as the one in the rule counts as a match.
 */
function passes(condition: Condition, value: unknown): boolean {
  const { equals, like, above, below } = condition;
  const numbers = above === undefined && below === undefined ? [] : numbersIn(value);
  return (
    (equals === undefined || isSame(value, equals)) &&
    (like === undefined || (typeof value === 'string' && starMatches(plainText(like), plainText(value)))) &&
    (above === undefined || numbers.some((number) => number > above)) &&
    (below === undefined || numbers.some((number) => number < below))
  );
}

/** Could a reader take one for the other? The order of keys does not matter. */
function isSame(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted) || Array.isArray(value))
    return areBoth(Array.isArray, value, wanted)
      ? hasSameItems(value as unknown[], wanted as unknown[])
      : !Array.isArray(wanted) && haveCommonNumber(value, wanted);
  if (isObject(wanted) || isObject(value))
    return isObject(wanted) && isObject(value) && hasSameItems(sortedEntries(value), sortedEntries(wanted));
  return isSameText(value, wanted) || haveCommonNumber(value, wanted);
}

function areBoth(test: (value: unknown) => boolean, one: unknown, other: unknown): boolean {
  return test(one) && test(other);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function hasSameItems(values: readonly unknown[], wanted: readonly unknown[]): boolean {
  return values.length === wanted.length && values.every((item, at) => isSame(item, wanted[at]));
}

function sortedEntries(value: object): unknown[][] {
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [plainText(key), item]);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

function isSameText(value: unknown, wanted: unknown): boolean {
  if (value === null || wanted === null) return value === wanted;
  return plainText(textOf(value)) === plainText(textOf(wanted));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function haveCommonNumber(value: unknown, wanted: unknown): boolean {
  const numbers = numbersIn(wanted);
  return numbersIn(value).some((number) => numbers.includes(number));
}
