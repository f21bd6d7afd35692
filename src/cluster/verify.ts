/**
 * Verifies the receipts of a whole cluster from their stream: every chain is intact, and every call that began has exactly
 * one receipt.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { GENESIS, faultOf } from '../audit/queries.ts';
import { SkillError } from '../errors.ts';
import { readMark, type Mark } from './messages.ts';
import { BUCKETS, subjects } from './names.ts';
import { allRows, readStream } from './receipts.ts';

/** The last hash of each chain, by its writer. Stored elsewhere, they reveal a chain that was rebuilt. */
export type Heads = Record<string, string>;

/** What the stream of receipts shows. */
export interface FleetVerification {
  ok: boolean;
  receipts: number;
  /** Calls with a mark: those that a worker began, or that a front end took back. */
  begun: number;
  /** Calls that their worker still runs. */
  running: number;
  heads: Heads;
  problems: string[];
}

/** Options of `verifyCluster`. */
export interface VerifyOptions {
  /** From an earlier verification. */
  heads?: Heads | undefined;
  /** How long receipts may take to arrive. */
  settleMs?: number;
}

const SETTLE_MS = 5000;
const PAUSE_MS = 500;
const ALIVE_MS = 1000;
const MAX_PROBLEMS = 1000;

/** Verifies every chain in the stream, and that each call with a mark has exactly one receipt. */
export async function verifyCluster(
  connection: NatsConnection,
  { heads = {}, settleMs = SETTLE_MS }: VerifyOptions = {},
): Promise<FleetVerification> {
  const until = performance.now() + settleMs;
  for (;;) {
    // Marks first: a call that begins later may have no receipt yet.
    const marks = await readMarks(connection);
    const chains = await readChains(connection, heads);
    const missing = [...marks.read].filter(([call, { by }]) => !chains.calls.get(idOf(call))?.has(by));
    const open = await stillRunning(connection, missing);
    const lost = missing.filter(([call]) => !open.has(call));
    if (lost.length > 0 && performance.now() < until) {
      await sleep(PAUSE_MS);
      continue;
    }
    const problems = [
      ...marks.problems,
      ...chains.problems,
      ...lost.map(
        ([call, { by }]) => `The call ${idOf(call)} has no receipt in the chain of "${by}", which began it`,
      ),
    ].slice(0, MAX_PROBLEMS);
    return {
      ok: problems.length === 0,
      receipts: chains.receipts,
      begun: marks.read.size,
      running: open.size,
      heads: chains.heads,
      problems,
    };
  }
}

interface Chains {
  receipts: number;
  heads: Heads;
  /** Who has a receipt of each call. */
  calls: Map<string, Set<string>>;
  problems: string[];
}

async function readChains(connection: NatsConnection, remembered: Heads): Promise<Chains> {
  const ends = new Map<string, { seq: number; hash: string }>();
  const broken = new Set<string>();
  const owed = new Map(Object.entries(remembered).filter(([, hash]) => hash !== GENESIS));
  const chains: Chains = { receipts: 0, heads: {}, calls: new Map(), problems: [] };
  for await (const { writer, row } of allRows(connection)) {
    if (!row) {
      chains.problems.push(`The chain of "${writer}" has a message that is not a receipt`);
      continue;
    }
    const end = ends.get(writer) ?? { seq: 0, hash: GENESIS };
    const fault = faultOf(row, { seq: end.seq + 1, prev: end.hash });
    // The first fault of a chain; everything after it follows from it.
    if (fault !== undefined && !broken.has(writer))
      chains.problems.push(`The chain of "${writer}" is broken at receipt ${row.seq}: ${fault}`);
    if (fault !== undefined) broken.add(writer);
    ends.set(writer, row);
    if (owed.get(writer) === row.hash) owed.delete(writer);
    const call = callIdOf(row.body);
    const writers = chains.calls.get(call) ?? new Set<string>();
    if (writers.size > 0) chains.problems.push(`The call ${call} has two receipts`);
    chains.calls.set(call, writers.add(writer));
    chains.receipts++;
  }
  for (const writer of owed.keys())
    chains.problems.push(`The remembered head of "${writer}" is not in its chain: it was cut off or rebuilt`);
  chains.heads = Object.fromEntries([...ends].map(([writer, { hash }]) => [writer, hash]));
  return chains;
}

interface FoundMarks {
  read: Map<string, Mark>;
  problems: string[];
}

/** A mark that cannot be read is a problem of its own, and hides no other. */
async function readMarks(connection: NatsConnection): Promise<FoundMarks> {
  const marks: FoundMarks = { read: new Map(), problems: [] };
  const prefix = `$KV.${BUCKETS.marks}.`;
  for await (const { subject, data } of readStream(connection, `KV_${BUCKETS.marks}`))
    if (data.length > 0) addMark(marks, subject.slice(prefix.length), data);
  return marks;
}

function addMark({ read, problems }: FoundMarks, call: string, data: Uint8Array): void {
  try {
    read.set(call, readMark(data));
  } catch {
    problems.push(`The mark of the call ${idOf(call)} cannot be read`);
  }
}

async function stillRunning(
  connection: NatsConnection,
  marks: readonly (readonly [string, Mark])[],
): Promise<Set<string>> {
  const running = new Set<string>();
  for (const [call, { state, by }] of marks) {
    if (state !== 'begun') continue;
    const answer = await connection
      .request(subjects.alive(by), call, { timeout: ALIVE_MS })
      .catch(() => undefined);
    if (answer && Buffer.from(answer.data).toString('utf8') === '1') running.add(call);
  }
  return running;
}

/** The id behind the tenant. */
function idOf(call: string): string {
  return call.slice(call.indexOf('.') + 1);
}

function callIdOf(body: string): string {
  try {
    return String((JSON.parse(body) as { call_id?: unknown }).call_id);
  } catch {
    return '(unreadable)';
  }
}

/** The heads of an earlier verification: its JSON, or only its `heads`. */
export function readHeads(text: string): Heads {
  try {
    const value = JSON.parse(text) as { heads?: unknown };
    const heads = (value.heads ?? value) as Record<string, unknown>;
    const entries = Object.entries(heads);
    if (entries.length > 0 && entries.every(([, hash]) => /^[0-9a-f]{64}$/.test(String(hash))))
      return Object.fromEntries(entries) as Heads;
  } catch {
    // Below.
  }
  throw new SkillError('usage', 'The file of heads has no heads', {
    fix: 'Pass the output of an earlier `skillcell audit verify --cluster URL --json`.',
  });
}
