/**
 * The operator's word on a skill by its name: allow, deny, or ask a person first. The first rule that matches counts.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { starMatches } from '../manifest/star-pattern.ts';

export type Decision = 'allow' | 'deny' | 'ask';

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

export function ruleFor(rules: readonly SkillRule[], { manifest }: Pick<Bundle, 'manifest'>): RuleAnswer {
  const rule = rules.find(({ match }) => nameMatches(match, manifest.name));
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
