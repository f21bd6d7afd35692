/**
 * The operator's rules for skills by name: allow, deny, or ask a person first. For each name of a skill, the first
 * matching rule counts; of several names, the one with the strictest answer.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { nameMatches } from '../manifest/star-pattern.ts';
import { STRICTNESS, type Decision } from '../vocabulary/decisions.ts';

export interface SkillRule {
  /** `finance/*`, `finance/wallet_screening`, `*`: a star matches any text within one segment; a single `*` matches all. */
  match: string;
  decision: Decision;
  requireSignature: boolean;
}

export interface RuleAnswer {
  decision: Decision;
  requireSignature: boolean;
  /** The rule that decided; undefined if none matched, so that the skill is allowed inside its cell. */
  rule?: SkillRule;
}

/** The names of a skill: the one it claims, and the ids that refer to it. */
export type Named = Pick<Bundle, 'manifest' | 'aliases'>;

export function ruleFor(rules: readonly SkillRule[], named: Named): RuleAnswer {
  return namesOf(named)
    .map((name) => answerFor(rules, name))
    .reduce(stricter);
}

export function namesOf({ manifest, aliases = [] }: Named): string[] {
  return [...new Set([manifest.name, ...aliases])];
}

/** Combines the stricter parts of two answers, and names the rule that decided. */
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
  // In a registry without categories, the id is a part of the name; "*" has already been applied to the full name.
  const isPart = !name.includes('/');
  const rule = rules.find(({ match }) => nameMatches(match, name) && !(isPart && match === '*'));
  if (!rule) return { decision: 'allow', requireSignature: false };
  return { decision: rule.decision, requireSignature: rule.requireSignature, rule };
}
