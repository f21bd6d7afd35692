/**
 * The receipts of one runtime: one for every call, however it ends.
 *
 * @module
 */
import { join } from 'node:path';
import type { LiveCall } from '../calls/live-call.ts';
import { describeOutcome, raise, type CallFacts } from '../cell/describe.ts';
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

/** `false` writes none. */
export type AuditOptions =
  | false
  | {
      /** `audit.db` in the home of the runtime when absent. */
      file?: string;
      /** Stores params and results beside their digests. */
      keepContent?: boolean;
      /** How the journal reaches the disk; tests have it fail. */
      files?: JournalFiles;
    };

/** Who made a call, and when. */
export interface Made {
  caller: string;
  startedAt: Date;
}

/** A call that has ended, with all that its receipt tells. */
export interface EndedCall extends CallFacts {
  outcome: Outcome;
  /** Without secrets. Of large ones only the digest, which was made elsewhere. */
  params: unknown;
  /** Undefined when it did not come to a cell. */
  digests: (() => CallDigests) | undefined;
  /** What the guard said, when there is one. */
  decision: GuardAnswer | undefined;
  /** Of a large result, which is not parsed here. */
  resultDigest?: string;
}

/** Of a call that has only been accepted: nothing of it has been looked at yet. */
const NOTHING_YET: CallDigests = { params: '', grant: '' };

/** Made once: finding out where an error comes from costs more than all else about accepting a call. */
const ENDED_EARLY = new SkillError('internal', 'The runtime ended before this call did', {
  fix: 'Look for why it ended. What the skill had done by then is not known.',
});

export class Receipts {
  readonly #options: AuditOptions;
  readonly #defaultFile: string;
  readonly #offload: Offload | undefined;
  readonly #underWay = new Set<string>();
  #log: AuditLog | undefined;
  #isClosing = false;

  constructor(home: string, options: AuditOptions = {}, offload?: Offload) {
    this.#options = options;
    this.#offload = offload;
    this.#defaultFile = join(home, 'audit.db');
  }

  /** Where they are kept. @throws SkillError when they are not. */
  get log(): AuditLog {
    const log = this.#opened();
    if (log) return log;
    throw new SkillError('usage', 'The audit log is switched off in this runtime', {
      fix: 'Leave out audit: false.',
    });
  }

  /** Throws `skill_unavailable` while no receipt could be written; always fine where none is wanted. */
  assertWritable(): void {
    this.#opened()?.assertWritable();
  }

  /** One call, from the receipt that it has whatever happens to the one that it ends with. Throws nothing that `work` does not. */
  async around(call: LiveCall, work: () => Promise<EndedCall>): Promise<Outcome> {
    const facts: CallFacts = { id: call.id, ref: call.ref };
    try {
      // Before anybody is told of it: who waits for a turn may wait until the host is killed.
      this.#accept(call, facts);
    } catch (thrown) {
      return describeOutcome(facts, () => raise(thrown));
    }
    call.accepted();
    const outcome = this.#settle(call, await work());
    call.done(outcome);
    return outcome;
  }

  /**
   * Writes the receipt that a call has if this host does not live to see its end. Before anybody is told of the call.
   * @throws SkillError `skill_unavailable` when it cannot be written: then the call must not be made.
   */
  #accept(made: Made, facts: CallFacts): void {
    this.#opened()?.begin(endedEarly(made, facts, NOTHING_YET));
    this.#underWay.add(facts.id);
  }

  /** Says more about a call that was accepted. What is there already is true, so no fault of the disk matters. */
  noteBegun(made: Made, facts: CallFacts, digests: CallDigests): void {
    if (!this.#underWay.has(facts.id)) return;
    try {
      this.#log?.begin(endedEarly(made, facts, digests));
    } catch {
      return;
    }
  }

  /** Writes the receipt of a call, and says what the caller may be told: never a result that no receipt knows of. */
  #settle(made: Made, call: EndedCall): Outcome {
    try {
      this.#log?.append(this.#receiptOf(made, call));
      this.#ended(call.id);
      return call.outcome;
    } catch (thrown) {
      const outcome = withoutReceipt(call.outcome, thrown);
      this.#keep(made, { ...call, outcome });
      return outcome;
    }
  }

  /** Calls that are under way still get theirs; the last of them closes the log. */
  close(): void {
    this.#isClosing = true;
    if (this.#underWay.size > 0) return;
    this.#log?.close();
    this.#log = undefined;
  }

  /** As soon as it can be written. If that is never, what was written when the call was accepted says as much. */
  #keep(made: Made, call: EndedCall): void {
    try {
      this.#log?.keep(this.#receiptOf(made, call));
      this.#ended(call.id);
    } catch {
      return;
    }
  }

  #ended(callId: string): void {
    this.#underWay.delete(callId);
    if (this.#isClosing) this.close();
  }

  #receiptOf(made: Made, call: EndedCall): Receipt {
    const { outcome, params, decision, skill, plan } = call;
    const digests = call.digests?.() ?? digestCall(params, plan?.grant);
    const keepsContent = this.#options !== false && this.#options.keepContent === true;
    return makeReceipt(outcome, {
      ...contextOf(made, digests, skill?.bundle),
      ...(outcome.ok ? { resultDigest: call.resultDigest ?? digest(outcome.result) } : {}),
      ...(keepsContent
        ? { params: keptParams(params), ...(outcome.ok ? { result: keptResult(outcome) } : {}) }
        : {}),
      ...(decision ? { decision } : {}),
    });
  }

  #opened(): AuditLog | undefined {
    if (this.#options === false) return undefined;
    const { file = this.#defaultFile, files } = this.#options;
    const offload = this.#offload;
    this.#log ??= openAuditLog({ file, ...(files ? { files } : {}), ...(offload ? { offload } : {}) });
    return this.#log;
  }
}

function endedEarly(made: Made, facts: CallFacts, digests: CallDigests): Receipt {
  const outcome = describeOutcome(facts, raiseEndedEarly);
  return makeReceipt(outcome, contextOf(made, digests, facts.skill?.bundle));
}

function contextOf(made: Made, digests: CallDigests, bundle: Bundle | undefined): ReceiptContext {
  return {
    paramsDigest: digests.params,
    grantDigest: digests.grant,
    origin: bundle?.origin ?? 'external',
    lock: bundle?.lock ?? 'unlocked',
    caller: made.caller,
    startedAt: made.startedAt,
  };
}

/** A large result is text that nobody has parsed on this thread; its digest stands for it. */
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
    fix: 'Mend what the message names, and look at what the skill did before you call it again.',
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

function raiseEndedEarly(): never {
  throw ENDED_EARLY;
}
