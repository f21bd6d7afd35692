/**
 * Guards one call: applies the operator's rules and the guard of the embedding program before anything runs.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { JsonText } from '../json-text.ts';
import type { Bundle } from '../load/bundle.ts';
import type { AskPerson } from '../trust/admission.ts';
import {
  applyRules,
  strictest,
  type Guard,
  type GuardAnswer,
  type GuardRule,
  type Proposal,
} from '../trust/guard.ts';
import type { GuardedCapability } from '../vocabulary/capabilities.ts';
import type { Grant } from './grant.ts';

export interface GuardedCall {
  bundle: Bundle;
  /** A value, or the JSON text of a large one. */
  params: unknown;
  /** The rules whose conditions hold for large parameters. */
  holding?: ReadonlySet<GuardRule> | undefined;
  caller: string;
  grant: Grant;
}

export interface Guards {
  rules: readonly GuardRule[];
  /** Guard of the embedding program. It can only make the answer stricter. */
  own?: Guard | undefined;
  askPerson?: AskPerson | undefined;
}

/** Returns the decision if the call may be made; otherwise throws `untrusted` or `approval_required`. */
export async function guardCall(call: GuardedCall, guards: Guards): Promise<GuardAnswer> {
  const proposal = proposalFor(call);
  const answer = strictest([
    applyRules(guards.rules, proposal, call.holding),
    ...(guards.own ? [await guards.own(proposal)] : []),
  ]);
  if (answer.decision === 'deny') throw refused(proposal, answer);
  if (answer.decision === 'ask' && !(await isConfirmed(proposal, answer, guards.askPerson)))
    throw unconfirmed(proposal, answer);
  return answer;
}

function proposalFor({ bundle, params, caller, grant }: GuardedCall): Proposal {
  const { manifest, digest, aliases } = bundle;
  const proposal = {
    skill: manifest.name,
    ...(aliases === undefined ? {} : { aliases }),
    digest,
    caller,
    capabilities: capabilitiesOf(grant),
  };
  if (!(params instanceof JsonText)) return { ...proposal, arguments: asSentToCell(params) };
  // Parsed only if a guard reads it; the rules have been applied on a worker thread.
  const large = { enumerable: true, get: () => params.value };
  return Object.defineProperty(proposal, 'arguments', large) as Proposal;
}

/** Judges the value that the cell will receive, which can differ from the original because of `toJSON`. */
function asSentToCell(params: unknown): unknown {
  return JSON.parse(JSON.stringify(params));
}

function capabilitiesOf(grant: Grant): GuardedCapability[] {
  return [
    ...(grant.network.length > 0 ? ['network' as const] : []),
    ...(grant.filesystem.length > 0 ? ['filesystem' as const] : []),
    ...(Object.keys(grant.env).length > 0 || grant.secrets?.length ? ['env' as const] : []),
    ...(grant.limits.processes > 0 || grant.programs?.length ? ['process' as const] : []),
  ];
}

async function isConfirmed(
  { skill, digest }: Proposal,
  { reasons }: GuardAnswer,
  askPerson: AskPerson | undefined,
): Promise<boolean> {
  if (!askPerson) return false;
  return askPerson({ skill, digest, lines: ['A rule asks you to decide on this call:', ...reasons] });
}

function refused({ skill, caller }: Proposal, { reasons }: GuardAnswer): SkillError {
  return new SkillError('untrusted', `The guard denies this call of "${skill}": ${reasons.join('; ')}`, {
    fix: 'Call it with other arguments, or have the operator change the rule under "guard" in the policy.',
    detail: { skill, caller, reasons },
  });
}

function unconfirmed({ skill, caller }: Proposal, { reasons }: GuardAnswer): SkillError {
  return new SkillError(
    'approval_required',
    `A person must confirm this call of "${skill}": ${reasons.join('; ')}`,
    {
      fix: 'Make the call on a terminal with `skillcell run`, which asks you, or have the operator change the rule.',
      detail: { skill, caller, reasons },
    },
  );
}
