/**
 * The receipts of one runtime: one for every call, whether it succeeds or fails.
 *
 * @module
 */
import { join } from 'node:path';
import type { Lineage } from '../calls/lineage.ts';
import type { LiveCall } from '../calls/live-call.ts';
import { describeFailure, type CallFacts } from '../cell/verdict/describe.ts';
import { SkillError, toSkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { resultText } from '../json-text.ts';
import type { Offload } from '../offload/offload.ts';
import type { Outcome, Success } from '../outcome.ts';
import type { GuardAnswer } from '../trust/guard.ts';
import { digest, digestCall, DigestedParams, type CallDigests } from './digests.ts';
import type { JournalFiles } from './journal-file.ts';
import { openAuditLog, type AuditLog } from './log.ts';
import { makeReceipt, type Receipt, type ReceiptContext } from './receipt.ts';

/** `false` writes no receipts. */
export type AuditOptions =
  | false
  | {
      /** Absent: `audit.db` in the home of the runtime. */
      file?: string;
      /** Stores parameters and results in addition to their digests. */
      keepContent?: boolean;
      /** Disk access of the journal; tests make it fail. */
      files?: JournalFiles;
    };

/** The caller and start of a call, and the call that made it. */
export interface Invocation {
  caller: string;
  startedAt: Date;
  lineage?: Lineage | undefined;
}

/** A call that has ended, with everything that its receipt contains. */
export interface EndedCall extends CallFacts {
  outcome: Outcome;
  /** Without secrets. For large ones, only the digest from a worker thread. */
  params: unknown;
  /** Undefined if the call did not reach a cell. */
  digests: (() => CallDigests) | undefined;
  /** The guard's decision, if there is a guard. */
  decision: GuardAnswer | undefined;
  /** Only for a large result, which is not parsed here. */
  resultDigest?: string;
}

/** For a call that was accepted but not examined yet. */
const NOTHING_YET: CallDigests = { params: '', grant: '' };

/** Created once: capturing a stack would dominate the cost of accepting a call. */
const ENDED_EARLY = new SkillError('internal', 'The runtime ended before this call did', {
  fix: 'Find out why the runtime ended. It is unknown what the skill did before that.',
});

export class Receipts {
  readonly #options: AuditOptions;
  readonly #defaultFile: string;
  readonly #offload: Offload | undefined;
  readonly #inProgress = new Set<string>();
  #log: AuditLog | undefined;
  #isClosing = false;

  constructor(home: string, options: AuditOptions = {}, offload?: Offload) {
    this.#options = options;
    this.#offload = offload;
    this.#defaultFile = join(home, 'audit.db');
  }

  /** The audit log. @throws SkillError when it is switched off. */
  get log(): AuditLog {
    const log = this.#openLog();
    if (log) return log;
    throw new SkillError('usage', 'The audit log is switched off in this runtime', {
      fix: 'Leave out audit: false.',
    });
  }

  /** Throws `skill_unavailable` while receipts cannot be written. Does nothing if the log is switched off. */
  assertWritable(): void {
    this.#openLog()?.assertWritable();
  }

  /** Runs one call between its provisional and its final receipt. Throws only what `work` throws. */
  async around(call: LiveCall, work: () => Promise<EndedCall>): Promise<Outcome> {
    const facts: CallFacts = { id: call.id, ref: call.ref };
    try {
      // Before any listener learns of the call: the host may be killed while the call waits for its turn.
      this.#accept(call, facts);
    } catch (thrown) {
      return describeFailure(facts, thrown);
    }
    call.accepted();
    const outcome = this.#settle(call, await work());
    call.done(outcome);
    return outcome;
  }

  /**
   * Writes the provisional receipt, in case the host is killed before the call ends.
   * @throws SkillError `skill_unavailable` when it cannot be written; then the call must not run.
   */
  #accept(invocation: Invocation, facts: CallFacts): void {
    this.#openLog()?.begin(endedEarly(invocation, facts, NOTHING_YET));
    this.#inProgress.add(facts.id);
  }

  /** Adds skill and digests to the provisional receipt. The one already written is valid, so a failing write is ignored. */
  recordStart(invocation: Invocation, facts: CallFacts, digests: CallDigests): void {
    if (!this.#inProgress.has(facts.id)) return;
    try {
      this.#log?.begin(endedEarly(invocation, facts, digests));
    } catch {
      return;
    }
  }

  /** Writes the final receipt and returns the outcome for the caller. A result without a receipt is withheld. */
  #settle(invocation: Invocation, call: EndedCall): Outcome {
    try {
      this.#log?.append(this.#receiptOf(invocation, call));
      this.#finish(call.id);
      return call.outcome;
    } catch (thrown) {
      const outcome = withoutReceipt(call.outcome, thrown);
      this.#keep(invocation, { ...call, outcome });
      return outcome;
    }
  }

  /** Calls in progress still get their receipts; the last of them closes the log. */
  close(): void {
    this.#isClosing = true;
    if (this.#inProgress.size > 0) return;
    this.#log?.close();
    this.#log = undefined;
  }

  /** Writes the receipt as soon as possible. If that never succeeds, the provisional one stays. */
  #keep(invocation: Invocation, call: EndedCall): void {
    try {
      this.#log?.keep(this.#receiptOf(invocation, call));
      this.#finish(call.id);
    } catch {
      return;
    }
  }

  #finish(callId: string): void {
    this.#inProgress.delete(callId);
    if (this.#isClosing) this.close();
  }

  #receiptOf(invocation: Invocation, call: EndedCall): Receipt {
    const { outcome, params, decision, skill, plan } = call;
    const digests = call.digests?.() ?? digestCall(params, plan?.grant);
    const keepsContent = this.#options !== false && this.#options.keepContent === true;
    return makeReceipt(outcome, {
      ...contextOf(invocation, digests, skill?.bundle),
      ...(outcome.ok ? { resultDigest: call.resultDigest ?? digest(outcome.result) } : {}),
      ...(keepsContent
        ? { params: keptParams(params), ...(outcome.ok ? { result: keptResult(outcome) } : {}) }
        : {}),
      ...(decision ? { decision } : {}),
    });
  }

  #openLog(): AuditLog | undefined {
    if (this.#options === false) return undefined;
    const { file = this.#defaultFile, files } = this.#options;
    const offload = this.#offload;
    this.#log ??= openAuditLog({ file, ...(files ? { files } : {}), ...(offload ? { offload } : {}) });
    return this.#log;
  }
}

function endedEarly(invocation: Invocation, facts: CallFacts, digests: CallDigests): Receipt {
  const outcome = describeFailure(facts, ENDED_EARLY);
  return makeReceipt(outcome, contextOf(invocation, digests, facts.skill?.bundle));
}

function contextOf(invocation: Invocation, digests: CallDigests, bundle: Bundle | undefined): ReceiptContext {
  return {
    paramsDigest: digests.params,
    grantDigest: digests.grant,
    origin: bundle?.origin ?? 'external',
    lock: bundle?.lock ?? 'unlocked',
    caller: invocation.caller,
    startedAt: invocation.startedAt,
    lineage: invocation.lineage,
  };
}

/** A large result is unparsed text, so only its digest is kept. */
function keptResult(outcome: Success): unknown {
  const text = resultText(outcome);
  return text ? tooLarge(text.bytes.length) : outcome.result;
}

function keptParams(params: unknown): unknown {
  return params instanceof DigestedParams ? tooLarge(params.bytes) : params;
}

function tooLarge(bytes: number): string {
  return `(${bytes} bytes: too large to be kept)`;
}

function withoutReceipt(outcome: Outcome, thrown: unknown): Outcome {
  const { call_id, skill, execution, usage, capabilities, logs, warnings } = outcome;
  const { message, detail } = toSkillError(thrown);
  const error = new SkillError('internal', `The skill ran, and its result is withheld. ${message}`, {
    fix: 'Fix the problem that the message names, and check what the skill did before you call it again.',
    detail,
    cause: thrown,
  }).toBody();
  return {
    ok: false,
    error,
    call_id,
    skill,
    ...(execution && { execution }),
    usage,
    capabilities,
    logs,
    warnings,
  };
}
