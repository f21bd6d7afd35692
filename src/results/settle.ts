/**
 * Turns the report of a cell into the result of a call. A small result is judged here; a large one by a worker thread, and
 * from then on it is text: receipts get its digest, clients its bytes.
 *
 * @module
 */
import type { CellReport, EndedCommand } from '../cell/contract.ts';
import { cancelled, judge, type Verdict } from '../cell/verdict/judge.ts';
import { unreadable } from '../cell/protocol/read-reply.ts';
import { withDenial } from '../cell/protocol/with-denial.ts';
import { attachResult, JsonText, MAX_JSON_HERE } from '../json-text.ts';
import type { Situation } from '../cell/verdict/situation.ts';
import type { Skill } from '../load/skill.ts';
import type { Offload } from '../offload/offload.ts';
import { ownBytes, TaskEndedError } from '../offload/task.ts';
import type { Outcome } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import type { ChangedFiles } from './changed-files.ts';
import { commandResult } from './command-result.ts';
import { SETTLE_OUTPUT, SETTLE_RESULT, type SettledResult } from './tasks.ts';

/** The largest result that the default policy allows takes a fraction of this. */
const SETTLE_DEADLINE_MS = 30_000;

/** Maximum growth of a value that is serialized again: `1e20,` becomes 22 characters, a control character six. */
const MAX_GROWTH = 6;

export interface SettleContext {
  skill: Skill;
  grant: Grant;
  /** What the fix of an error may name. */
  situation?: Situation | undefined;
  secrets: ReadonlyMap<string, string>;
  offload: Offload;
  /** The tenant that the call belongs to. */
  tenant?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The files that a command changed. */
  files?: ChangedFiles | undefined;
}

/** A verdict whose result may be too large to parse. */
export interface Settled extends Verdict {
  /** Set instead of `result`, and already without secrets. */
  large?: { text: JsonText; digest: string };
}

/** Returns the result and its schema problems, or throws the error of the call. */
export async function settle(report: CellReport, context: SettleContext): Promise<Settled> {
  const { reply } = report;
  if (reply?.kind === 'ended') return settleCommand(report, reply, context);
  if (reply?.kind !== 'unread') {
    const verdict = judge(report, context.grant, context.situation);
    assertWrittenSize(report, verdict, context);
    return { ...verdict, problems: await context.skill.outputs.check(verdict.result, context.tenant) };
  }
  // Check limits first, so that a reply that is refused anyway is not read.
  judge(
    { ...report, reply: { kind: 'result', value: undefined, warnings: [] } },
    context.grant,
    context.situation,
  );
  const settled = await settleInWorker(reply, context);
  if (settled.kind === 'other') {
    const { byHost, inside } = reply.denials ?? { byHost: report.denied, inside: [] };
    return judge(
      { ...report, reply: withDenial(settled.reply, { byHost, inside }) },
      context.grant,
      context.situation,
    );
  }
  const { text, digest, problems, warnings } = settled;
  assertOutput(report, text.length, context);
  return { result: undefined, warnings, problems, large: { text: new JsonText(text), digest } };
}

/** Output within the limit is a result, however long it is as JSON. */
async function settleCommand(
  report: CellReport,
  reply: EndedCommand,
  context: SettleContext,
): Promise<Settled> {
  const verdict = judge(report, context.grant, context.situation);
  const { files, warnings } = context.files ?? { files: [], warnings: [] };
  if (reply.stdout.length + reply.stderr.length <= MAX_JSON_HERE) {
    const made = commandResult(reply, files);
    return {
      ...verdict,
      result: made.result,
      warnings: [...verdict.warnings, ...warnings, ...made.warnings],
    };
  }
  const { exitCode } = reply;
  const [stdout, stderr] = [ownBytes(reply.stdout), ownBytes(reply.stderr)];
  const input = { exitCode, stdout, stderr, files, secrets: context.secrets };
  const { tenant, signal, skill } = context;
  const owner = skill.bundle.manifest.name;
  const options = { deadlineMs: SETTLE_DEADLINE_MS, owner, tenant, transfer: [stdout, stderr], signal };
  try {
    const { text, digest, warnings: more } = await context.offload.run(SETTLE_OUTPUT, input, options);
    return {
      ...verdict,
      warnings: [...verdict.warnings, ...warnings, ...more],
      large: { text: new JsonText(text), digest },
    };
  } catch (error) {
    if (error instanceof TaskEndedError && error.reason === 'aborted') throw cancelled();
    throw error;
  }
}

/** A small result can only outgrow a small limit, so serializing it is rarely necessary. */
function assertWrittenSize(report: CellReport, { result }: Verdict, context: SettleContext): void {
  if (context.grant.limits.output >= MAX_GROWTH * MAX_JSON_HERE || result === undefined) return;
  assertOutput(report, Buffer.byteLength(JSON.stringify(result)), context);
}

/** The limit also applies to the text that clients get, in which a number can be longer than the skill wrote it (1e20). */
function assertOutput(report: CellReport, resultBytes: number, { grant, situation }: SettleContext): void {
  judge(
    { ...report, resultBytes, reply: { kind: 'result', value: undefined, warnings: [] } },
    grant,
    situation,
  );
}

/** The outcome with its result as text, and the digest that its receipt needs. */
export function withLarge(outcome: Outcome, { large }: Settled): { outcome: Outcome; resultDigest?: string } {
  if (!large || !outcome.ok) return { outcome };
  return { outcome: attachResult(outcome, large.text), resultDigest: large.digest };
}

async function settleInWorker(
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
      error.reason === 'memory'
        ? 'too large for the memory limit of the check'
        : 'too complex to check in time';
    return { kind: 'other', reply: unreadable('value', reason) };
  }
}
