/**
 * Checkpoints of pruned receipts. Each says how many receipts were removed and where the chain continues, and is hashed
 * together with the checkpoint before it, so that none can be changed or left out unnoticed.
 *
 * @module
 */
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { canonicalJson } from './canonical-json.ts';

/** A record of receipts that were removed from the start of the log. */
export interface Checkpoint {
  pruned_at: string;
  /** Number of receipts that all prunes so far removed. */
  through_seq: number;
  /** Hash of the last removed receipt, to which the first remaining one is chained. */
  through_hash: string;
  /** When the first removed call of this prune and the last one began. */
  from: string;
  to: string;
  /** End of the chain when the receipts were removed. */
  head_seq: number;
  head_hash: string;
  /** Covers everything above and the checkpoint before. */
  hash: string;
}

const TABLE = `CREATE TABLE IF NOT EXISTS checkpoint (
  id INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL
) STRICT`;
const NONE = '0'.repeat(64);

/** Oldest first. */
export function readCheckpoints(database: DatabaseSync): Checkpoint[] {
  const known = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'checkpoint'");
  if (!known.get()) return [];
  const rows = database.prepare('SELECT body, hash FROM checkpoint ORDER BY id').all();
  return rows.map(({ body, hash: own }) =>
    Object.assign(JSON.parse(String(body)) as Omit<Checkpoint, 'hash'>, { hash: String(own) }),
  );
}

/** Inside the transaction that removes the receipts. */
export function addCheckpoint(database: DatabaseSync, facts: Omit<Checkpoint, 'hash'>): Checkpoint {
  database.exec(TABLE);
  const made = { ...facts, hash: hashAfter(readCheckpoints(database).at(-1)?.hash ?? NONE, facts) };
  database.prepare('INSERT INTO checkpoint (body, hash) VALUES (?, ?)').run(canonicalJson(facts), made.hash);
  return made;
}

export function checkpointFault(checkpoints: readonly Checkpoint[]): string | undefined {
  let before = NONE;
  let through = 0;
  for (const { hash: own, ...facts } of checkpoints) {
    if (own !== hashAfter(before, facts)) return 'a checkpoint of pruned receipts was changed or removed';
    if (facts.through_seq <= through) return 'the checkpoints of pruned receipts are out of order';
    [before, through] = [own, facts.through_seq];
  }
  return undefined;
}

function hashAfter(before: string, facts: Omit<Checkpoint, 'hash'>): string {
  return hash('sha256', before + canonicalJson(facts), 'hex');
}
