/**
 * The operator's word on a skill by its name: allow, deny, or ask a person first. The first rule that matches a name
 * counts; of several names that a skill can be called by, the one with the strictest answer.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { starMatches } from '../manifest/star-pattern.ts';

export type Decision = 'allow' | 'deny' | 'ask';

export const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

export interface SkillRule {
  /** `finance/*`, `finance/wallet_screening`, `*`: a star stands for any text within one segment, alone for all. */
  match: string;
  decision: Decision;
  requireSignature: boolean;
}

export interface RuleAnswer {
  decision: Decision;
  requireSignature: boolean;
  /** Which rule said so; undefined when none matched and a skill is allowed, inside its cell. */
  rule?: SkillRule;
}

/** Whatever a skill can be called by: what it calls itself, and the ids that lead to it. */
export type Named = Pick<Bundle, 'manifest' | 'aliases'>;

export function ruleFor(rules: readonly SkillRule[], named: Named): RuleAnswer {
  return namesOf(named)
    .map((name) => answerFor(rules, name))
    .reduce(stricter);
}

export function namesOf({ manifest, aliases = [] }: Named): string[] {
  return [...new Set([manifest.name, ...aliases])];
}

/** The stricter of two answers in everything; it names the rule that made it so. */
export function stricter(one: RuleAnswer, other: RuleAnswer): RuleAnswer {
  const [most, least] = weight(other) > weight(one) ? [other, one] : [one, other];
  const rule = most.rule ?? least.rule;
  return {
    decision: most.decision,
    requireSignature: one.requireSignature || other.requireSignature,
    ...(rule ? { rule } : {}),
  };
}

function weight({ decision, requireSignature, rule }: RuleAnswer): number {
  return 4 * STRICTNESS[decision] + (requireSignature ? 2 : 0) + (rule ? 1 : 0);
}

function answerFor(rules: readonly SkillRule[], name: string): RuleAnswer {
  // In a registry without categories the id is a part of the name: a rule for all has spoken on the whole.
  const isPart = !name.includes('/');
  const rule = rules.find(({ match }) => nameMatches(match, name) && !(isPart && match === '*'));
  if (!rule) return { decision: 'allow', requireSignature: false };
  return { decision: rule.decision, requireSignature: rule.requireSignature, rule };
}

export function nameMatches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  const wanted = pattern.split('/');
  const given = name.split('/');
  return (
    wanted.length === given.length && wanted.every((segment, at) => starMatches(segment, given[at] ?? ''))
  );
}
