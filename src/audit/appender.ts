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

/** Appends to one chain that other processes append to as well. */
export class Appender {
  readonly #database: DatabaseSync;
  readonly #last: StatementSync;
  readonly #insert: StatementSync;
  /** What this process added last. Where the log ends before it, receipts were cut off: the gap has to show. */
  #own: Link | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#last = database.prepare('SELECT seq, hash FROM receipt ORDER BY seq DESC LIMIT 1');
    this.#insert = database.prepare('INSERT INTO receipt (seq, prev, hash, body) VALUES (?, ?, ?, ?)');
  }

  /** Waits for another process that is writing, and the whole host with it: `waitMs` at most. */
  append(bodies: readonly string[], waitMs: number): void {
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${waitMs}`);
      // The write lock is taken before the last hash is read: no other process can slip in between.
      this.#database.exec('BEGIN IMMEDIATE');
      let last = this.#end();
      for (const body of bodies) last = this.#add(last, body);
      this.#database.exec('COMMIT');
      this.#own = last;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw cannotWrite(error);
    }
  }

  #end(): Link {
    const row = this.#last.get();
    const last = row ? { seq: Number(row['seq']), hash: String(row['hash']) } : { seq: 0, hash: GENESIS };
    return this.#own && this.#own.seq > last.seq ? this.#own : last;
  }

  #add(last: Link, body: string): Link {
    const next = { seq: last.seq + 1, hash: chainHash(last.hash, body) };
    this.#insert.run(next.seq, last.hash, next.hash, body);
    return next;
  }
}
