/**
 * From the report of a cell to the result of a call. A small result is judged here and now; a large one by a worker
 * thread, and from then on it is text: receipts get its digest, clients its bytes.
 *
 * @module
 */
import type { CellReport } from '../cell/contract.ts';
import { cancelled, judge, type Verdict } from '../cell/judge.ts';
import { unreadable } from '../cell/read-reply.ts';
import { withDenial } from '../cell/session.ts';
import { attachResult, JsonText } from '../json-text.ts';
import type { Skill } from '../load/skill.ts';
import type { Offload } from '../offload/offload.ts';
import { ownBytes, TaskEndedError } from '../offload/task.ts';
import type { Outcome } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { SETTLE_RESULT, type SettledResult } from './tasks.ts';

/** The largest result that a policy lets through by default takes a fraction of it. */
export const SETTLE_DEADLINE_MS = 30_000;

export interface SettleContext {
  skill: Skill;
  grant: Grant;
  secrets: ReadonlyMap<string, string>;
  offload: Offload;
  /** For whom the call is made. */
  tenant?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A verdict on a result that may be too large to be anything but text. */
export interface Settled extends Verdict {
  /** Instead of `result`, and already without secrets. */
  large?: { text: JsonText; digest: string };
}

/** Returns the result and what is wrong with it, or throws what the call failed with. */
export async function settle(report: CellReport, context: SettleContext): Promise<Settled> {
  const { reply } = report;
  if (reply?.kind !== 'unread') {
    const verdict = judge(report, context.grant);
    return { ...verdict, problems: await context.skill.outputs.check(verdict.result, context.tenant) };
  }
  // Limits first: nothing is read of a reply that is refused anyway.
  judge({ ...report, reply: { kind: 'result', value: undefined, warnings: [] } }, context.grant);
  const settled = await settleElsewhere(reply, context);
  if (settled.kind === 'other') {
    const { byHost, inside } = reply.denials ?? { byHost: report.denied, inside: [] };
    return judge({ ...report, reply: withDenial(settled.reply, { byHost, inside }) }, context.grant);
  }
  const { text, digest, problems, warnings } = settled;
  return { result: undefined, warnings, problems, large: { text: new JsonText(text), digest } };
}

/** The outcome with its result as text, and the digest that its receipt needs. */
export function withLarge(outcome: Outcome, { large }: Settled): { outcome: Outcome; resultDigest?: string } {
  if (!large || !outcome.ok) return { outcome };
  return { outcome: attachResult(outcome, large.text), resultDigest: large.digest };
}

async function settleElsewhere(
  { form, bytes }: Extract<CellReport['reply'], { kind: 'unread' }>,
  { skill, secrets, offload, tenant, signal }: SettleContext,
): Promise<SettledResult> {
  const own = ownBytes(bytes);
  const { manifest } = skill.bundle;
  const input = { form, bytes: own, outputs: manifest.outputs, secrets };
  const options = { deadlineMs: SETTLE_DEADLINE_MS, owner: manifest.name, tenant, transfer: [own], signal };
  try {
    return await offload.run(SETTLE_RESULT, input, options);
  } catch (error) {
    if (!(error instanceof TaskEndedError) || error.reason === 'closed') throw error;
    if (error.reason === 'aborted') throw cancelled();
    const reason =
      error.reason === 'memory' ? 'too much for the memory of a check' : 'too long to be checked';
    return { kind: 'other', reply: unreadable('value', reason) };
  }
}
