/**
 * Summarizes the trust status of a skill for people. Nothing is decided here.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { answerForCall, type Admission, type TrustRules } from './admission.ts';
import type { ApprovalState } from './approvals.ts';
import { profileOf, type Profile } from './profile.ts';
import { publisherOf } from './publishers.ts';
import type { RuleAnswer } from './skill-rules.ts';

/** The trust status of a skill: rule, approval, signature, profile. */
export interface Standing {
  profile: Profile;
  rule: RuleAnswer;
  approval: ApprovalState;
  /** The trusted publisher who signed it. */
  publisher?: string;
  /** A summary in a few words, e.g. `approved, signed by acme`. */
  summary: string;
}

export async function standingOf(
  bundle: Bundle,
  { rules, approvals, isUpload }: Pick<Admission, 'rules' | 'approvals' | 'isUpload'>,
): Promise<Standing> {
  const rule = answerForCall({ bundle, rules, isUpload });
  const approval = approvals.stateOf(bundle);
  const publisher = await signerOf(bundle, rules);
  const summary = [
    wordFor(rule, approval),
    ...(publisher === undefined ? [] : [`signed by ${publisher}`]),
    ...(rule.requireSignature && publisher === undefined ? ['signature missing'] : []),
  ].join(', ');
  return {
    profile: profileOf(bundle.manifest),
    rule,
    approval,
    ...(publisher === undefined ? {} : { publisher }),
    summary,
  };
}

function wordFor({ decision }: RuleAnswer, { kind }: ApprovalState): string {
  if (decision === 'deny') return 'denied';
  if (kind === 'approved') return 'approved';
  return decision === 'ask' ? 'needs approval' : 'sandboxed';
}

async function signerOf(bundle: Bundle, rules: readonly TrustRules[]): Promise<string | undefined> {
  try {
    const known = rules.flatMap(({ publishers }) => publishers);
    return (await publisherOf(bundle, known)).name;
  } catch (error) {
    if (error instanceof SkillError && error.code === 'signature_invalid') return undefined;
    throw error;
  }
}
