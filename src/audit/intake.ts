/**
 * Brings receipts from the journal into the log: many at a time, while the host waits for cells anyway.
 *
 * @module
 */
import type { Journal } from './journal.ts';
import type { Receipt } from './receipt.ts';

/** So many are brought in together; fewer wait for a moment. */
const BATCH = 8;
const MOMENT_MS = 25;
/** The log could not be written for so long that the next call has to be told. */
const MAX_WAITING = 10_000;

export class Intake {
  readonly #journal: Journal;
  readonly #append: (bodies: readonly string[]) => void;
  #waiting: string[] = [];
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(journal: Journal, append: (bodies: readonly string[]) => void) {
    this.#journal = journal;
    this.#append = append;
  }

  begin(receipt: Receipt): void {
    this.#journal.begin(receipt.call_id, JSON.stringify(receipt));
  }

  end(receipt: Receipt): void {
    const body = JSON.stringify(receipt);
    this.#journal.end(receipt.call_id, body);
    this.#waiting.push(body);
    if (this.#waiting.length > MAX_WAITING) this.bringIn();
    else if (this.#waiting.length >= BATCH) this.#soon ??= setImmediate(() => this.#tryToBringIn());
    else this.#later ??= setTimeout(() => this.#tryToBringIn(), MOMENT_MS).unref();
  }

  /** Throws when the log cannot be written; what waits goes on waiting. */
  bringIn(): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#later = undefined;
    if (this.#waiting.length === 0) return;
    this.#append(this.#waiting);
    this.#waiting = [];
    this.#journal.arrived();
  }

  close(): void {
    this.bringIn();
    this.#journal.close();
  }

  /** Nobody is there to be told: the receipts are safe in the journal, and the next one tries again. */
  #tryToBringIn(): void {
    try {
      this.bringIn();
    } catch {
      return;
    }
  }
}
