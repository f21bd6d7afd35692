/**
 * HTTP for cells that ask by frames: Wasm cells, which have no sockets. The guest follows redirects itself, with new requests
 * that are checked again.
 *
 * @module
 */
import { BrokerRefusal, type BrokerReply, type BrokerRequest } from '../../cell/contract.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Records } from '../records.ts';
import type { CellSecrets } from '../secrets/contract.ts';
import { Egress, type EgressOptions, type HttpResponse } from './egress.ts';
import { toRefusal } from './failures.ts';
import { readRequest, type HttpRequest } from './request.ts';
import { startTimer } from './timeouts.ts';

export const MAX_READ_BYTES: number = 1024 * 1024;
/** Received bytes are searched in pieces of this size, however few the guest asks for. */
const PIECE_BYTES = 64 * 1024;

export type HttpOptions = EgressOptions;

interface Body {
  response: HttpResponse;
  /** How long the guest is willing to wait for more, in milliseconds. */
  betweenBytesMs: number | undefined;
  isRead: boolean;
  /** Bytes that are ready but were not requested yet. */
  ready: Uint8Array;
}

export class HttpBroker {
  readonly #egress: Egress;
  readonly #bodies = new Map<number, Body>();
  #next = 0;

  constructor(
    grant: Grant,
    records: Records,
    { secrets, ...options }: HttpOptions & { secrets?: CellSecrets | undefined } = {},
  ) {
    this.#egress = new Egress({ grant, records, secrets }, options);
  }

  /** Undefined if the request is not about HTTP. */
  async handle({ op, args, payload }: BrokerRequest): Promise<BrokerReply | undefined> {
    if (op === 'http') return this.#fetch(readRequest(args), payload ?? new Uint8Array());
    if (op === 'httpRead') return this.#read(args);
    if (op === 'httpClose') return this.#close(args['body']);
    return undefined;
  }

  close(): void {
    this.#egress.close();
    for (const id of this.#bodies.keys()) this.#close(id);
  }

  async #fetch(request: HttpRequest, payload: Uint8Array): Promise<BrokerReply> {
    const response = await this.#egress.send(request, async () => payload);
    const id = this.#next++;
    this.#bodies.set(id, {
      response,
      betweenBytesMs: request.timeouts.betweenBytes,
      isRead: false,
      ready: new Uint8Array(),
    });
    return { value: { status: response.status, headers: response.headers, body: id } };
  }

  async #read(args: Record<string, unknown>): Promise<BrokerReply> {
    const body = this.#bodies.get(Number(args['body']));
    if (!body) throw new BrokerRefusal('badf', 'no such response');
    const wanted = Math.min(Math.max(1, Number(args['length']) || 1), MAX_READ_BYTES);
    try {
      return { value: {}, payload: await readSome(body, wanted) };
    } catch (error) {
      if (toRefusal(error).code === 'toobig') this.#close(args['body']);
      throw error;
    }
  }

  #close(id: unknown): BrokerReply {
    const body = this.#bodies.get(Number(id));
    if (body && this.#bodies.delete(Number(id))) body.response.close();
    return { value: {} };
  }
}

/** Returns some bytes, none at the end. Bytes held back to find secrets come with the next ones. */
async function readSome(body: Body, wanted: number): Promise<Uint8Array> {
  while (!body.isRead && body.ready.length === 0) {
    const chunk = await nextBytes(body, Math.max(wanted, PIECE_BYTES));
    body.isRead = chunk.length === 0;
    body.ready = body.isRead ? body.response.rest() : body.response.take(chunk);
  }
  const bytes = body.ready.subarray(0, wanted);
  body.ready = body.ready.subarray(wanted);
  return bytes;
}

/** Returns some bytes as the server sent them, none at the end. */
function nextBytes({ response, betweenBytesMs }: Body, wanted: number): Promise<Uint8Array> {
  const { message } = response;
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const settle = (outcome: () => void): void => {
    clearTimeout(timer);
    message.off('readable', attempt).off('end', attempt).off('error', attempt).off('close', attempt);
    outcome();
  };
  const attempt = (): void => {
    const length = Math.min(wanted, message.readableLength);
    const chunk = length > 0 ? (message.read(length) as Buffer | null) : null;
    if (chunk !== null) return settle(() => resolve(chunk));
    if (message.readableEnded && message.complete) return settle(() => resolve(new Uint8Array()));
    if (message.destroyed || message.errored)
      return settle(() => reject(new BrokerRefusal('incomplete', 'the response is incomplete')));
    // Only a read detects the end.
    message.read(0);
    return undefined;
  };
  const timer = startTimer(betweenBytesMs, () => {
    settle(() => reject(new BrokerRefusal('readtimeout', 'no more bytes in time')));
    response.close();
  });
  message.on('readable', attempt).on('end', attempt).on('error', attempt).on('close', attempt);
  attempt();
  return promise;
}
