/**
 * Moves receipts from the journal into the log, in batches, while the host waits for cells.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { cannotWrite } from './cannot-write.ts';
import type { Journal } from './journal.ts';
import { shortReceipt, type Receipt } from './receipt.ts';

/** Receipts per batch; a smaller batch waits for `MOMENT_MS`. */
const BATCH = 8;
const MOMENT_MS = 25;
/** Delay before a retry while another process is writing. */
const RETRY_MS = 250;
/** With more unflushed receipts than this, no more calls are accepted. */
const MAX_WAITING = 10_000;

/** How long to wait for another process that is writing. */
export type Patience = 'none' | 'some' | 'most';

type Append = (bodies: readonly string[], patience: Patience) => void;

export class Intake {
  readonly #journal: Journal;
  readonly #append: Append;
  #waiting: string[] = [];
  /** Ended calls whose receipts are only in memory. */
  #unwritten: string[] = [];
  /** The last flush failed. */
  #isFailing = false;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(journal: Journal, append: Append) {
    this.#journal = journal;
    this.#append = append;
  }

  /** Throws `skill_unavailable` when the receipt cannot be written. */
  begin(receipt: Receipt): void {
    try {
      if (this.#mustFlush) this.flush('none');
      this.#journal.begin(receipt.call_id, JSON.stringify(receipt));
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  /** Throws `skill_unavailable` when neither the journal nor the log takes the receipt; then no part of it was kept. */
  end(receipt: Receipt): void {
    const body = JSON.stringify(receipt);
    try {
      this.#journal.end(receipt.call_id, body, () => JSON.stringify(shortReceipt(receipt)));
    } catch (error) {
      this.#endInLog(receipt.call_id, body, error);
      return;
    }
    this.#waiting.push(body);
    this.#flushSoon();
  }

  /** Keeps a receipt that cannot be written now. No call begins until it is written. */
  keep(receipt: Receipt): void {
    this.#waiting.push(JSON.stringify(receipt));
    this.#unwritten.push(receipt.call_id);
    this.#flushSoon();
  }

  assertWritable(): void {
    try {
      this.#flushUnlessBusy();
      this.#journal.assertRoom();
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  /** Throws when the log cannot be written; the receipts stay queued. */
  flush(patience: Patience = 'some'): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#later = undefined;
    if (this.#waiting.length === 0) return;
    this.#append(this.#waiting, patience);
    this.#isFailing = false;
    this.#waiting = [];
    const written = this.#unwritten;
    this.#unwritten = [];
    this.#journal.onFlushed(written);
  }

  /** Reports no error: the receipts are safe in the journal, and the next flush tries again. */
  tryFlush(patience: Patience = 'none'): void {
    try {
      this.flush(patience);
    } catch (error) {
      // A long write by another process is not a reason to refuse calls.
      this.#isFailing = !isBusy(error);
      if (!this.#isFailing) this.#flushAfter(RETRY_MS);
    }
  }

  /** Receipts that the log does not take stay in the journal for the next process. */
  close(): void {
    this.tryFlush('most');
    clearTimeout(this.#later);
    if (this.#waiting.length === 0) this.#journal.close();
    else this.#journal.abandon();
  }

  /** The journal failed, but the log is another file and may work. */
  #endInLog(callId: string, body: string, cause: unknown): void {
    try {
      this.#append([...this.#waiting, body], 'some');
    } catch {
      throw cannotWrite(cause);
    }
    this.#waiting = [];
    this.#journal.onFlushed([...this.#unwritten.splice(0), callId]);
  }

  #flushSoon(): void {
    if (this.#waiting.length >= BATCH) this.#soon ??= setImmediate(() => this.tryFlush());
    else this.#flushAfter(MOMENT_MS);
  }

  #flushAfter(ms: number): void {
    this.#later ??= setTimeout(() => this.tryFlush(), ms).unref();
  }

  /** True while no call may begin before the queue is flushed. */
  get #mustFlush(): boolean {
    return this.#isFailing || this.#waiting.length > MAX_WAITING || this.#unwritten.length > 0;
  }

  /** Throws exactly when `begin` would. */
  #flushUnlessBusy(): void {
    try {
      this.flush('none');
    } catch (error) {
      if (this.#mustFlush || !isBusy(error)) throw error;
      this.#flushAfter(RETRY_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SkillError && error.detail['receipts'] === 'SQLITE_BUSY';
}
