/**
 * The gate between a loaded skill and its call: checks the operator's rules, the signature, and approvals. No later stage
 * can widen its decision.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Approvals, ApprovalState } from './approvals.ts';
import { describeSkill } from './plain-words.ts';
import { publisherOf, type Publisher } from './publishers.ts';
import { namesOf, ruleFor, stricter, type RuleAnswer, type SkillRule } from './skill-rules.ts';

/** Rules for these names are about programs, whose code no person has seen. */
const PROGRAMS = 'program/';

export interface TrustRules {
  skills: readonly SkillRule[];
  publishers: readonly Publisher[];
}

/** Asks a person, in an interactive front end. */
export type AskPerson = (question: Question) => Promise<boolean>;

/** The question to a person before a skill may run. */
export interface Question {
  skill: string;
  digest: string;
  /** The question line by line, safe to print. */
  lines: string[];
}

/** Another skill with the same name. */
export interface Namesake {
  dir: string;
  /** A bundled skill, which a skill of the project or an installed one with the same id replaces. */
  givesWay: boolean;
}

export interface Admission {
  bundle: Bundle;
  /** The rules of every policy in force; each must admit the skill. */
  rules: readonly TrustRules[];
  approvals: Approvals;
  /** Other folders that are known by the name that this skill claims. Called only if needed. */
  namesakes?: () => readonly Namesake[];
  askPerson?: AskPerson | undefined;
  /** A tenant uploaded it: it needs an approval unless every policy allows it explicitly. */
  isUpload?: boolean | undefined;
}

/** Throws `untrusted`, `signature_invalid` or `approval_required` unless the skill may be called. */
export async function admit(admission: Admission): Promise<void> {
  const { bundle, rules, approvals, askPerson } = admission;
  if (bundle.origin !== 'generated' && namesOf(bundle).some((name) => name.startsWith(PROGRAMS)))
    throw notProgram(bundle);
  const { decision, rule } = answerForCall(admission);
  if (decision === 'deny') throw denied(bundle, rule?.match ?? '');
  const answers: RuleAnswer['decision'][] = [];
  for (const one of rules) answers.push(await admitBy(one, admission));
  if (decision === 'allow' && !answers.includes('ask')) return;
  // Its code is another one at every call, so nobody can have looked at it.
  if (bundle.origin === 'generated') throw neverApproved(rule?.match ?? '');
  const state = approvals.stateOf(bundle);
  if (state.kind === 'approved') return;
  if (!(await askPerson?.(questionFor(bundle, state)))) throw unapproved(bundle, state);
  approvals.add(bundle, 'terminal');
}

/** The strictest answer of all rules, and of what holds for uploads. */
export function answerForCall({
  bundle,
  rules,
  isUpload = false,
}: Pick<Admission, 'bundle' | 'rules' | 'isUpload'>): RuleAnswer {
  const answer = answerOf(rules, bundle);
  if (!isUpload || (rules.length > 0 && rules.every(({ skills }) => isForUploads(skills, bundle))))
    return answer;
  return stricter(answer, { decision: 'ask', requireSignature: false });
}

/** A tenant chooses the name of its upload, so a rule for a name counts only together with a signature. */
function isForUploads(skills: readonly SkillRule[], bundle: Bundle): boolean {
  const { rule } = ruleFor(skills, { manifest: bundle.manifest });
  return rule !== undefined && (rule.match === '*' || rule.requireSignature);
}

/** The strictest answer of all rules. */
export function answerOf(rules: readonly TrustRules[], bundle: Bundle): RuleAnswer {
  return rules
    .map(({ skills }) => ruleFor(skills, bundle))
    .reduce(stricter, { decision: 'allow', requireSignature: false });
}

/**
 * A signature counts only for rules whose policy trusts the publisher, and a skill allowed by name must own that name. If
 * only a bundled example has the same name, the rule may have meant either, so a person decides.
 */
async function admitBy(rules: TrustRules, { bundle, namesakes }: Admission): Promise<'allow' | 'ask'> {
  const { requireSignature } = ruleFor(rules.skills, bundle);
  if (requireSignature) await publisherOf(bundle, rules.publishers);
  // A name is only a claim. A skill that is allowed by name must not take the name of another.
  const { decision, rule } = ruleFor(rules.skills, { manifest: bundle.manifest });
  const isByName = decision === 'allow' && rule !== undefined && rule.match !== '*' && !requireSignature;
  const others = isByName ? (namesakes?.() ?? []) : [];
  const other = others.find(({ givesWay }) => !givesWay);
  if (other) throw impostor(bundle, other.dir);
  return others.length > 0 ? 'ask' : 'allow';
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
  if (diff.length === 0) return [`${since}, its files have changed; it asks for the same capabilities.`];
  return [`${since}, its capabilities have changed:`, ...diff.map((line) => `  ${line}`)];
}

function denied({ manifest }: Bundle, match: string): SkillError {
  return new SkillError('untrusted', `The operator policy denies the skill "${manifest.name}"`, {
    fix: `Use another skill, or have the operator change the rule for "${match}" under "skills" in the policy.`,
    detail: { skill: manifest.name, rule: match },
  });
}

function neverApproved(match: string): SkillError {
  return new SkillError(
    'untrusted',
    'Programs cannot be approved, and the operator policy asks for an approval',
    {
      fix: `Have the operator allow "program/*" under "skills" in the policy, before the rule for "${match}".`,
      detail: { rule: match },
    },
  );
}

function notProgram({ manifest, sourceDir }: Bundle): SkillError {
  return new SkillError(
    'untrusted',
    `The skill in ${JSON.stringify(sourceDir)} has a name of programs, "${manifest.name}"`,
    {
      fix: `Give it another category than "${PROGRAMS.slice(0, -1)}".`,
      detail: { skill: manifest.name, dir: sourceDir },
    },
  );
}

function impostor({ manifest, sourceDir }: Bundle, other: string): SkillError {
  const claim = `The skill in ${JSON.stringify(sourceDir)} claims the name "${manifest.name}"`;
  return new SkillError(
    'untrusted',
    `${claim}, which the policy allows, but that name belongs to ${JSON.stringify(other)}`,
    {
      fix: 'Give it another name, remove the other skill, or have the operator require a signature for this name.',
      detail: { skill: manifest.name, dirs: [sourceDir, other] },
    },
  );
}

function unapproved(bundle: Bundle, state: ApprovalState): SkillError {
  const { name } = bundle.manifest;
  const diff = state.kind === 'changed' ? state.diff : [];
  const why =
    state.kind === 'changed'
      ? `it has changed since it was approved${diff.length > 0 ? `: ${diff.join('; ')}` : ' (its files, not its capabilities)'}`
      : 'it has not been approved yet';
  return new SkillError('approval_required', `The skill "${name}" must be approved by a person: ${why}`, {
    fix: `Review what it asks for and approve it on a terminal: skillcell approve ${shellWord(bundle.sourceDir)}`,
    detail: { skill: name, digest: bundle.digest, diff },
  });
}
