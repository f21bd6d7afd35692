/**
 * Adds receipts at the end of the chain.
 *
 * @module
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { cannotWrite } from './cannot-write.ts';
import { chainHash, GENESIS } from './queries.ts';

/** The end of the chain. */
interface Link {
  seq: number;
  hash: string;
}

/** Appends to a chain that other processes may append to as well. */
export class Appender {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #last: StatementSync;
  readonly #insert: StatementSync;
  /** The last receipt of this process. If the log ends before it, receipts were cut off, and the gap must stay visible. */
  #lastAppended: Link | undefined;
  #waitMs: number | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // Take the write lock before reading the last hash, so that no other process appends in between.
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#last = database.prepare('SELECT seq, hash FROM receipt ORDER BY seq DESC LIMIT 1');
    this.#insert = database.prepare('INSERT INTO receipt (seq, prev, hash, body) VALUES (?, ?, ?, ?)');
  }

  /** Blocks the whole host while another process writes, for at most `waitMs`. */
  append(bodies: readonly string[], waitMs: number): void {
    try {
      if (waitMs !== this.#waitMs) this.#database.exec(`PRAGMA busy_timeout = ${waitMs}`);
      this.#waitMs = waitMs;
      this.#begin.run();
      let last = this.#end();
      for (const body of bodies) last = this.#add(last, body);
      this.#commit.run();
      this.#lastAppended = last;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw cannotWrite(error);
    }
  }

  #end(): Link {
    const row = this.#last.get();
    const last = row ? { seq: Number(row['seq']), hash: String(row['hash']) } : { seq: 0, hash: GENESIS };
    return this.#lastAppended && this.#lastAppended.seq > last.seq ? this.#lastAppended : last;
  }

  #add(last: Link, body: string): Link {
    const next = { seq: last.seq + 1, hash: chainHash(last.hash, body) };
    this.#insert.run(next.seq, last.hash, next.hash, body);
    return next;
  }
}
