/**
 * The gate between a loaded skill and its call: what the operator says of the skill, who signed it, and what a person
 * approved. Nothing behind it can widen what it let through.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Approvals, ApprovalState } from './approvals.ts';
import { describeSkill } from './plain-words.ts';
import { publisherOf, type Publisher } from './publishers.ts';
import { ruleFor, stricter, type RuleAnswer, type SkillRule } from './skill-rules.ts';

export interface TrustRules {
  skills: readonly SkillRule[];
  publishers: readonly Publisher[];
}

/** Asks a person; only a front end that has one in front of it hands it in. */
export type AskPerson = (question: Question) => Promise<boolean>;

export interface Question {
  skill: string;
  digest: string;
  /** What is to be decided, line by line, fit for a terminal. */
  lines: string[];
}

export interface Admission {
  bundle: Bundle;
  /** Of every policy in force; each has to let it through. */
  rules: readonly TrustRules[];
  approvals: Approvals;
  /** Other folders that are called by the name that this skill gives itself. Looked for when it matters. */
  namesakes?: () => readonly string[];
  askPerson?: AskPerson | undefined;
}

/** Returns when the skill may be called; throws `untrusted`, `signature_invalid` or `approval_required`. */
export async function admit(admission: Admission): Promise<void> {
  const { bundle, rules, approvals, askPerson } = admission;
  const { decision, rule } = answerOf(rules, bundle);
  if (decision === 'deny') throw denied(bundle, rule?.match ?? '');
  for (const one of rules) await admitBy(one, admission);
  if (decision === 'allow') return;
  const state = approvals.stateOf(bundle);
  if (state.kind === 'approved') return;
  if (!(await askPerson?.(questionFor(bundle, state)))) throw unapproved(bundle, state);
  approvals.add(bundle, 'terminal');
}

/** What all rules say together: the strictest of them. */
export function answerOf(rules: readonly TrustRules[], bundle: Bundle): RuleAnswer {
  return rules
    .map(({ skills }) => ruleFor(skills, bundle))
    .reduce(stricter, { decision: 'allow', requireSignature: false });
}

/** A signature counts for the rules of those who trust its publisher, and an allowed name has to be its own. */
async function admitBy(rules: TrustRules, { bundle, namesakes }: Admission): Promise<void> {
  const { requireSignature } = ruleFor(rules.skills, bundle);
  if (requireSignature) await publisherOf(bundle, rules.publishers);
  // A name is only a claim. A skill that is allowed by it must not have taken it from another.
  const { decision, rule } = ruleFor(rules.skills, { manifest: bundle.manifest });
  const isByName = decision === 'allow' && rule !== undefined && rule.match !== '*' && !requireSignature;
  const [other] = isByName ? (namesakes?.() ?? []) : [];
  if (other !== undefined) throw impostor(bundle, other);
}

export function questionFor(bundle: Bundle, state: ApprovalState): Question {
  const { manifest, digest } = bundle;
  const sentences = describeSkill(bundle).map(({ risk, text }) => `${risk.padEnd(6)} ${text}`);
  return { skill: manifest.name, digest, lines: [...sentences, ...changesSince(state)] };
}

function changesSince(state: ApprovalState): string[] {
  if (state.kind !== 'changed') return [];
  const { diff, approval } = state;
  const since = `Since the approval of ${approval.at.slice(0, 10)} by ${approval.by}`;
  if (diff.length === 0) return [`${since} its files changed; it asks for the same.`];
  return [`${since} it asks for something else:`, ...diff.map((line) => `  ${line}`)];
}

function denied({ manifest }: Bundle, match: string): SkillError {
  return new SkillError('untrusted', `The operator policy denies the skill "${manifest.name}"`, {
    fix: `Use another skill, or have the operator change the rule for "${match}" under skills in the policy.`,
    detail: { skill: manifest.name, rule: match },
  });
}

function impostor({ manifest, sourceDir }: Bundle, other: string): SkillError {
  const claim = `The skill in ${JSON.stringify(sourceDir)} calls itself "${manifest.name}"`;
  return new SkillError(
    'untrusted',
    `${claim}, which the policy allows, but that is ${JSON.stringify(other)}`,
    {
      fix: 'Give it a name of its own, remove the other, or have the operator demand a signature for this name.',
      detail: { skill: manifest.name, dirs: [sourceDir, other] },
    },
  );
}

function unapproved(bundle: Bundle, state: ApprovalState): SkillError {
  const { name } = bundle.manifest;
  const diff = state.kind === 'changed' ? state.diff : [];
  const why =
    state.kind === 'changed'
      ? `it changed since it was approved${diff.length > 0 ? `: ${diff.join('; ')}` : ' (its files, not what it asks for)'}`
      : 'nobody has approved it yet';
  return new SkillError('approval_required', `The skill "${name}" has to be approved by a person: ${why}`, {
    fix: `Look at what it asks for and approve it on a terminal: skillcell approve ${shellWord(bundle.sourceDir)}`,
    detail: { skill: name, digest: bundle.digest, diff },
  });
}
