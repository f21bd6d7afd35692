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
/** The log could not be written for so long that no more calls are accepted. */
const MAX_WAITING = 10_000;

export class Intake {
  readonly #journal: Journal;
  readonly #append: (bodies: readonly string[]) => void;
  #waiting: string[] = [];
  /** Calls that have ended and are in memory only. */
  #unwritten: string[] = [];
  /** The log did not take what waits when it was last tried. */
  #isFailing = false;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(journal: Journal, append: (bodies: readonly string[]) => void) {
    this.#journal = journal;
    this.#append = append;
  }

  /** Throws `skill_unavailable` when it cannot be written. */
  begin(receipt: Receipt): void {
    try {
      if (this.#isFailing || this.#waiting.length > MAX_WAITING || this.#unwritten.length > 0) this.bringIn();
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
      this.bringIn();
      this.#journal.assertRoom();
    } catch (error) {
      throw cannotWrite(error);
    }
  }

  /** Throws when the log cannot be written; what waits goes on waiting. */
  bringIn(): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#later = undefined;
    if (this.#waiting.length === 0) return;
    this.#append(this.#waiting);
    this.#isFailing = false;
    this.#waiting = [];
    const written = this.#unwritten;
    this.#unwritten = [];
    this.#journal.arrived(written);
  }

  /** Nobody is there to be told: the receipts are safe in the journal, and the next one tries again. */
  tryToBringIn(): void {
    try {
      this.bringIn();
    } catch (error) {
      // Another process that writes for long is no reason to refuse calls.
      this.#isFailing = !(error instanceof SkillError && error.detail['receipts'] === 'SQLITE_BUSY');
    }
  }

  /** What the log does not take stays in the journal, for the next process. */
  close(): void {
    this.tryToBringIn();
    if (this.#waiting.length === 0) this.#journal.close();
    else this.#journal.abandon();
  }

  /** The journal failed; the log is another file, and may do. */
  #endInLog(callId: string, body: string, cause: unknown): void {
    try {
      this.#append([...this.#waiting, body]);
    } catch {
      throw cannotWrite(cause);
    }
    this.#waiting = [];
    this.#journal.arrived([...this.#unwritten.splice(0), callId]);
  }

  #bringInSoon(): void {
    if (this.#waiting.length >= BATCH) this.#soon ??= setImmediate(() => this.tryToBringIn());
    else this.#later ??= setTimeout(() => this.tryToBringIn(), MOMENT_MS).unref();
  }
}
