/**
 * The receipts of one runtime: one for every call, however it ends.
 *
 * @module
 */
import { join } from 'node:path';
import type { Scrub } from '../broker/secrets/scrub.ts';
import { describeOutcome, type CallFacts } from '../cell/describe.ts';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { resultText } from '../json-text.ts';
import type { Outcome, Success } from '../outcome.ts';
import type { GuardAnswer } from '../trust/guard.ts';
import { digest, digestCall, type CallDigests } from './digests.ts';
import { openAuditLog, type AuditLog } from './log.ts';
import { makeReceipt, type ReceiptContext } from './receipt.ts';

/** `false` writes none. */
export type AuditOptions =
  | false
  | {
      /** `audit.db` in the home of the runtime when absent. */
      file?: string;
      /** Stores params and results beside their digests. */
      keepContent?: boolean;
      /** Gives also those calls a receipt that this process does not live to end. */
      noteBegun?: boolean;
    };

/** Who made a call, and when. */
export interface Made {
  caller: string;
  startedAt: Date;
}

/** A call that has ended, with all that its receipt tells. */
export interface EndedCall extends CallFacts {
  outcome: Outcome;
  /** Takes the secrets of this call out of anything. */
  scrub: Scrub;
  /** Undefined when it did not come to a cell. */
  digests: (() => CallDigests) | undefined;
  /** What the guard said, when there is one. */
  decision: GuardAnswer | undefined;
  /** Of a large result, which is not parsed here. */
  resultDigest?: string;
}

/** Of a call that waits for its turn: nothing of it has been looked at yet. */
const NOTHING_YET: CallDigests = { params: '', grant: '' };

export class Receipts {
  readonly #options: AuditOptions;
  readonly #defaultFile: string;
  #log: AuditLog | undefined;

  constructor(home: string, options: AuditOptions = {}) {
    this.#options = options;
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

  /** Notes a call that waits for its turn, and may wait until the host is killed. */
  noteWaiting(made: Made, facts: CallFacts): void {
    this.noteBegun(made, facts)?.(NOTHING_YET);
  }

  /** Takes note of a call that has begun, for a host that may not live to see its end; undefined where nobody asked for it. */
  noteBegun(made: Made, facts: CallFacts): ((digests: CallDigests) => void) | undefined {
    if (this.#options === false || !this.#options.noteBegun) return undefined;
    return (digests) => {
      const outcome = describeOutcome(facts, endedTooEarly);
      this.#opened()?.begin(makeReceipt(outcome, contextOf(made, digests, facts.skill?.bundle)));
    };
  }

  write(made: Made, params: unknown, call: EndedCall): void {
    const log = this.#opened();
    if (!log) return;
    const { outcome, scrub, decision, skill, plan } = call;
    const scrubbed = scrub(params);
    const digests = call.digests?.() ?? digestCall(scrubbed, plan?.grant);
    const keepsContent = this.#options !== false && this.#options.keepContent === true;
    log.append(
      makeReceipt(outcome, {
        ...contextOf(made, digests, skill?.bundle),
        ...(outcome.ok ? { resultDigest: call.resultDigest ?? digest(outcome.result) } : {}),
        ...(keepsContent ? { params: scrubbed, ...(outcome.ok ? { result: keptResult(outcome) } : {}) } : {}),
        ...(decision ? { decision } : {}),
      }),
    );
  }

  close(): void {
    this.#log?.close();
    this.#log = undefined;
  }

  #opened(): AuditLog | undefined {
    if (this.#options === false) return undefined;
    this.#log ??= openAuditLog({ file: this.#options.file ?? this.#defaultFile });
    return this.#log;
  }
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
  return text ? `(${text.bytes.length} bytes: too large to be kept)` : outcome.result;
}

function endedTooEarly(): never {
  throw new SkillError('internal', 'The runtime ended before this call did', {
    fix: 'Look for why it ended. What the skill had done by then is not known.',
  });
}
