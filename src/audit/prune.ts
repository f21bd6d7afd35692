/**
 * Removes old receipts from the start of the log, in steps, so that a service that writes at the same time waits only
 * briefly. The newest receipt always stays, so that the chain has an end to continue from.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { SkillError } from '../errors.ts';
import { addCheckpoint, checkpointFault, readCheckpoints, type Checkpoint } from './checkpoints.ts';
import { openDatabase } from './open-database.ts';
import { faultOf, GENESIS, type Row } from './queries.ts';

const STEP = 10_000;
const BUSY_MS = 10_000;

export interface Pruned {
  removed: number;
  /** The last checkpoint; absent if nothing was removed. */
  checkpoint?: Checkpoint;
}

/** Removes receipts of calls that began before `before`. Throws if the part to remove is not intact. */
export function pruneLog(file: string, before: Date): Pruned {
  if (!existsSync(file)) return { removed: 0 };
  const database = openDatabase(file, BUSY_MS);
  try {
    let pruned: Pruned = { removed: 0 };
    for (;;) {
      const step = inTransaction(database, () => pruneStep(database, before));
      if (step.removed === 0) break;
      pruned = { ...step, removed: pruned.removed + step.removed };
    }
    // Otherwise the file keeps its size, and removed text stays readable in it.
    if (pruned.removed > 0) database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    return pruned;
  } finally {
    database.close();
  }
}

function pruneStep(database: DatabaseSync, before: Date): Pruned {
  const checkpoints = readCheckpoints(database);
  const fault = checkpointFault(checkpoints);
  if (fault !== undefined) throw broken(fault);
  const last = database.prepare('SELECT seq, hash FROM receipt ORDER BY seq DESC LIMIT 1').get();
  if (!last) return { removed: 0 };
  const old = oldRows(database, { before, headSeq: Number(last['seq']), after: checkpoints.at(-1) });
  const [first, end] = [old.at(0), old.at(-1)];
  if (!first || !end) return { removed: 0 };
  database.prepare('DELETE FROM receipt WHERE seq <= ?').run(end.seq);
  const checkpoint = addCheckpoint(database, {
    pruned_at: new Date().toISOString(),
    through_seq: end.seq,
    through_hash: end.hash,
    from: startOf(first),
    to: startOf(end),
    head_seq: Number(last['seq']),
    head_hash: String(last['hash']),
  });
  return { removed: old.length, checkpoint };
}

interface Range {
  before: Date;
  headSeq: number;
  after: Checkpoint | undefined;
}

/** The receipts at the start of the log that are old, verified one by one: pruning must not hide a broken chain. */
function oldRows(database: DatabaseSync, { before, headSeq, after }: Range): Row[] {
  const rows = database.prepare('SELECT seq, prev, hash, body FROM receipt ORDER BY seq LIMIT ?').all(STEP);
  const limit = before.toISOString();
  const old: Row[] = [];
  let [seq, prev] = [(after?.through_seq ?? 0) + 1, after?.through_hash ?? GENESIS];
  for (const row of rows as unknown as Row[]) {
    if (row.seq === headSeq || startOf(row) >= limit) break;
    const fault = faultOf(row, { seq, prev });
    if (fault !== undefined) throw broken(`receipt ${row.seq}: ${fault}`);
    old.push(row);
    [seq, prev] = [seq + 1, row.hash];
  }
  return old;
}

function startOf({ body }: Row): string {
  return (JSON.parse(body) as { started_at: string }).started_at;
}

function inTransaction<T>(database: DatabaseSync, action: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = action();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function broken(fault: string): SkillError {
  return new SkillError('usage', `Refused to prune: the chain of receipts is broken (${fault})`, {
    fix: 'Run `skillcell audit verify`, keep a copy of the log, and find out who changed it.',
  });
}
