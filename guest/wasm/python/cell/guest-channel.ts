/**
 * Descriptor 3 of the guest: how the harness reports denials, asks for http, and gives the answer of a call. A skill can
 * write there as well; what it can say is checked here and again by the host, and is worth no more than its own result.
 *
 * @module
 */
import type { BrokerAnswer } from '../../wasi/broker-client.ts';
import { BrokerError } from '../../wasi/broker-client.ts';
import { fail, type NodeStat, type OpenNode } from '../files/contract.ts';
import type { Ask } from '../files/broker-tree.ts';

const HEADER_BYTES = 4;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_DENIALS = 64;
const MAX_USES = 4096;
/** Files go through the tree, which knows what lies where. */
const ASKABLE: ReadonlySet<string> = new Set(['http', 'httpRead', 'httpClose']);

export interface GuestReply {
  body: Record<string, unknown>;
  payload: Uint8Array;
}

export interface GuestChannelOptions {
  ask: Ask;
  /** A denial, or a use where the host records what a skill needs. */
  onEvent: (body: Record<string, unknown>) => void;
  /** Largest payload. */
  maxPayload: number;
}

/** The guest wrote what is no frame. */
export class ChannelFault extends Error {
  readonly limit: 'output' | undefined;

  constructor(message: string, limit?: 'output') {
    super(message);
    this.limit = limit;
  }
}

export class GuestChannel implements OpenNode {
  readonly isStream = true;
  readonly #options: GuestChannelOptions;
  #pending: Buffer = Buffer.alloc(0);
  #answers: Buffer = Buffer.alloc(0);
  #denials = 0;
  #uses = 0;
  #reply: GuestReply | undefined;
  #fault: ChannelFault | undefined;

  constructor(options: GuestChannelOptions) {
    this.#options = options;
  }

  /** What the call ended with. Throws when the guest broke the protocol, even if it caught that. */
  get reply(): GuestReply | undefined {
    if (this.#fault) throw this.#fault;
    return this.#reply;
  }

  stat(): NodeStat {
    return { type: 'device', size: 0, modified: 0, identity: 1n, writable: true };
  }

  write(bytes: Uint8Array): number {
    // A copy: the window on the guest's memory is gone with the next call.
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (let frame = this.#take(); frame; frame = this.#take()) this.#onFrame(frame);
    return bytes.length;
  }

  read(into: Uint8Array): number {
    const chunk = this.#answers.subarray(0, into.length);
    into.set(chunk);
    this.#answers = this.#answers.subarray(chunk.length);
    return chunk.length;
  }

  resize(): void {
    fail('inval');
  }

  list(): never {
    return fail('notdir');
  }

  close(): void {
    // The layer keeps it.
  }

  #take(): GuestReply | undefined {
    if (this.#pending.length < HEADER_BYTES) return undefined;
    const bodyBytes = this.#pending.readUInt32LE(0);
    if (bodyBytes > MAX_BODY_BYTES) this.#refuse(new ChannelFault('a frame is too large'));
    const bodyEnd = HEADER_BYTES + bodyBytes;
    if (this.#pending.length < bodyEnd) return undefined;
    const body = this.#parse(this.#pending.subarray(HEADER_BYTES, bodyEnd));
    const payloadBytes = Number(body['payload_bytes'] ?? 0);
    if (!(payloadBytes >= 0 && payloadBytes <= this.#options.maxPayload))
      this.#refuse(new ChannelFault('the result is too large', 'output'));
    const end = bodyEnd + payloadBytes;
    if (this.#pending.length < end) return undefined;
    const payload = this.#pending.subarray(bodyEnd, end);
    this.#pending = this.#pending.subarray(end);
    return { body, payload };
  }

  #parse(bytes: Buffer): Record<string, unknown> {
    try {
      const body: unknown = JSON.parse(bytes.toString('utf8'));
      if (typeof body === 'object' && body !== null) return body as Record<string, unknown>;
    } catch {
      // Said below.
    }
    return this.#refuse(new ChannelFault('a frame is no JSON'));
  }

  #onFrame(frame: GuestReply): void {
    switch (frame.body['t']) {
      case 'denied':
        if (this.#denials++ < MAX_DENIALS) this.#options.onEvent(eventOf('denied', frame.body));
        return;
      case 'used':
        if (this.#uses++ < MAX_USES) this.#options.onEvent(eventOf('used', frame.body));
        return;
      case 'ask':
        return this.#onAsk(frame);
      case 'result':
      case 'error':
        this.#reply ??= frame;
        return;
      default:
        this.#refuse(new ChannelFault('a frame of unknown kind'));
    }
  }

  #onAsk({ body, payload }: GuestReply): void {
    const op = String(body['op']);
    if (!ASKABLE.has(op)) return this.#answer({ code: 'nosys' });
    try {
      const args = (body['args'] ?? {}) as Record<string, unknown>;
      const { value, bytes }: BrokerAnswer = this.#options.ask(op, args, payload);
      this.#answer({ value }, bytes);
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#answer({ code: error.code });
    }
  }

  #answer(body: Record<string, unknown>, payload: Uint8Array = new Uint8Array()): void {
    const text = Buffer.from(JSON.stringify({ ...body, payload_bytes: payload.length }));
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32LE(text.length);
    this.#answers = Buffer.concat([this.#answers, header, text, payload]);
  }

  #refuse(fault: ChannelFault): never {
    this.#fault ??= fault;
    throw fault;
  }
}

/** Nothing else is passed on: announced bytes that do not follow would make the host take our next words for them. */
function eventOf(
  t: 'denied' | 'used',
  { capability, asked, declared }: Record<string, unknown>,
): Record<string, unknown> {
  return { t, capability, asked, declared };
}
