/**
 * Sends the rows of a local chain of receipts to the stream of all receipts, exactly as they are, each once and in order.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AuditReader, Row } from '../audit/queries.ts';
import { encode, readRow } from './messages.ts';
import { STREAMS, subjects } from './names.ts';

const PAUSE_MS = 200;
const AFTER_ERROR_MS = 1000;
const PAGE = 200;
/** Messages of one answer. */
const BATCH = 500;

/** The last row of a writer in the stream. */
interface Sent {
  /** In the chain. */
  seq: number;
  /** In the stream. */
  at: number;
}

export class ReceiptForwarder {
  readonly #connection: NatsConnection;
  readonly #writer: string;
  readonly #log: Pick<AuditReader, 'rows'>;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #sent: Sent | undefined;

  constructor(connection: NatsConnection, writer: string, log: Pick<AuditReader, 'rows'>) {
    this.#connection = connection;
    this.#writer = writer;
    this.#log = log;
    this.#running = this.#run();
  }

  /** Sends what is left. Rows that cannot be sent in time are sent after the next start. */
  async close(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), withinMs);
    this.#isLast = true;
    await this.#running;
    clearTimeout(timer);
  }

  #isLast = false;

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const isLast = this.#isLast;
      try {
        if ((await this.#sendPage()) === PAGE) continue;
        if (isLast) return;
        await sleep(PAUSE_MS, undefined, { signal });
      } catch {
        // What the stream has is asked again: the answer to a row may have been lost.
        this.#sent = undefined;
        await sleep(AFTER_ERROR_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #sendPage(): Promise<number> {
    const sent = (this.#sent ??= await this.#lastSent());
    const rows = this.#log.rows(sent.seq, PAGE);
    const client = jetstream(this.#connection);
    for (const row of rows) {
      // Refused if another process wrote in between.
      const ack = await client.publish(subjects.receipt(this.#writer), encode(row), {
        expect: { lastSubjectSequence: sent.at },
      });
      sent.seq = row.seq;
      sent.at = ack.seq;
    }
    return rows.length;
  }

  async #lastSent(): Promise<Sent> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false });
    // By its own subject, which is all that its key may read.
    const last = await manager.direct
      .getMessage(STREAMS.receipts, { last_by_subj: subjects.receipt(this.#writer) })
      .catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      });
    return last ? { seq: readRow(last.data).seq, at: last.seq } : { seq: 0, at: 0 };
  }
}

/** "no message found" */
const NO_MESSAGE = 10_037;

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === NO_MESSAGE;
}

/** Every row of the stream, with its writer, in the order of the stream; without a row if it cannot be read. */
export async function* allRows(
  connection: NatsConnection,
): AsyncGenerator<{ writer: string; row: Row | undefined }> {
  for await (const { subject, data } of readStream(connection, STREAMS.receipts))
    yield { writer: subject.split('.')[2] ?? '', row: rowOf(data) };
}

function rowOf(data: Uint8Array): Row | undefined {
  try {
    return readRow(data);
  } catch {
    return undefined;
  }
}

/** Every message that a stream has now. Needs no consumer, which could deliver to any subject. */
export async function* readStream(connection: NatsConnection, name: string): AsyncGenerator<StoredMsg> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await manager.streams.info(name);
  for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq;) {
    let last = 0;
    for await (const message of await manager.direct.getBatch(name, { seq, batch: BATCH })) {
      last = message.seq;
      yield message;
    }
    // The rest may have expired in the meantime.
    if (last === 0) return;
    seq = last + 1;
  }
}
