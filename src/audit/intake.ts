/**
 * Brings receipts from the journal into the log: many at a time, while the host waits for cells anyway.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { cannotWrite } from './cannot-write.ts';
import type { Journal } from './journal.ts';
import { shortReceipt, type Receipt } from './receipt.ts';

/** So many are brought in together; fewer wait for a moment. */
const BATCH = 8;
const MOMENT_MS = 25;
/** Until it is tried again, while another process is writing. */
const RETRY_MS = 250;
/** The log could not be written for so long that no more calls are accepted. */
const MAX_WAITING = 10_000;

/** How long another process that writes is waited for. */
export type Patience = 'none' | 'some' | 'most';

type Append = (bodies: readonly string[], patience: Patience) => void;

export class Intake {
  readonly #journal: Journal;
  readonly #append: Append;
  #waiting: string[] = [];
  /** Calls that have ended and are in memory only. */
  #unwritten: string[] = [];
  /** The log did not take what waits when it was last tried. */
  #isFailing = false;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(journal: Journal, append: Append) {
    this.#journal = journal;
    this.#append = append;
  }

  /** Throws `skill_unavailable` when it cannot be written. */
  begin(receipt: Receipt): void {
    try {
      if (this.#mustBringIn) this.bringIn('none');
      this.#journal.begin(receipt.call_id, JSON.stringify(receipt));
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  /** Throws `skill_unavailable` when neither the journal nor the log takes it; then nothing of it was kept. */
  end(receipt: Receipt): void {
    const body = JSON.stringify(receipt);
    try {
      this.#journal.end(receipt.call_id, body, () => JSON.stringify(shortReceipt(receipt)));
    } catch (error) {
      this.#endInLog(receipt.call_id, body, error);
      return;
    }
    this.#waiting.push(body);
    this.#bringInSoon();
  }

  /** For a receipt that nobody can write now. Until it is written, no call begins. */
  keep(receipt: Receipt): void {
    this.#waiting.push(JSON.stringify(receipt));
    this.#unwritten.push(receipt.call_id);
    this.#bringInSoon();
  }

  assertWritable(): void {
    try {
      this.#bringInUnlessBusy();
      this.#journal.assertRoom();
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  /** Throws when the log cannot be written; what waits goes on waiting. */
  bringIn(patience: Patience = 'some'): void {
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
    this.#journal.arrived(written);
  }

  /** Nobody is there to be told: the receipts are safe in the journal, and the next one tries again. */
  tryToBringIn(patience: Patience = 'none'): void {
    try {
      this.bringIn(patience);
    } catch (error) {
      // Another process that writes for long is no reason to refuse calls.
      this.#isFailing = !isBusy(error);
      if (!this.#isFailing) this.#bringInAfter(RETRY_MS);
    }
  }

  /** What the log does not take stays in the journal, for the next process. */
  close(): void {
    this.tryToBringIn('most');
    clearTimeout(this.#later);
    if (this.#waiting.length === 0) this.#journal.close();
    else this.#journal.abandon();
  }

  /** The journal failed; the log is another file, and may do. */
  #endInLog(callId: string, body: string, cause: unknown): void {
    try {
      this.#append([...this.#waiting, body], 'some');
    } catch {
      throw cannotWrite(cause);
    }
    this.#waiting = [];
    this.#journal.arrived([...this.#unwritten.splice(0), callId]);
  }

  #bringInSoon(): void {
    if (this.#waiting.length >= BATCH) this.#soon ??= setImmediate(() => this.tryToBringIn());
    else this.#bringInAfter(MOMENT_MS);
  }

  #bringInAfter(ms: number): void {
    this.#later ??= setTimeout(() => this.tryToBringIn(), ms).unref();
  }

  /** No call begins before what waits is in the log. */
  get #mustBringIn(): boolean {
    return this.#isFailing || this.#waiting.length > MAX_WAITING || this.#unwritten.length > 0;
  }

  /** Throws exactly when `begin` would. */
  #bringInUnlessBusy(): void {
    try {
      this.bringIn('none');
    } catch (error) {
      if (this.#mustBringIn || !isBusy(error)) throw error;
      this.#bringInAfter(RETRY_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SkillError && error.detail['receipts'] === 'SQLITE_BUSY';
}
