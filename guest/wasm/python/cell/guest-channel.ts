/**
 * Descriptor 3 of the guest: the harness uses it to report denials, make HTTP requests and return the result of a call. A
 * skill can write there too; its frames are checked here and again by the host, and are trusted no more than its result.
 *
 * @module
 */
import type {
  AskFields,
  CapabilityFields,
  ExitFields,
  FailureFields,
  InnerPythonFrames,
  SkillRequests,
  Unchecked,
} from '../../../protocol.ts';
import type { CellEvent } from '../../cell/channel.ts';
import type { BrokerAnswer } from '../../wasi/broker-client.ts';
import { BrokerError } from '../../wasi/broker-client.ts';
import { StreamNode } from '../files/contract.ts';
import type { Ask } from '../files/broker-tree.ts';

const HEADER_BYTES = 4;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_DENIALS = 64;
const MAX_USES = 4096;
/** File operations go through the tree, which knows where each path belongs. */
const ASKABLE: ReadonlySet<string> = new Set([
  'http',
  'httpRead',
  'httpClose',
  'skill.call',
  'skill.start',
  'skill.wait',
  'skill.cancel',
] satisfies ('http' | 'httpRead' | 'httpClose' | keyof SkillRequests)[]);

/** Written by the guest: a frame of some kind, or any other object. */
type Body = Unchecked<
  { t: string; payload_bytes: number } & AskFields & CapabilityFields & FailureFields & ExitFields
>;

export interface GuestReply {
  body: Body;
  payload: Uint8Array;
}

export interface GuestChannelOptions {
  ask: Ask;
  /** A denial, or a use if the host records what a skill needs. */
  onEvent: (event: CellEvent) => void;
  /** Maximum size of a payload. */
  maxPayload: number;
  /** The call is a command, which ends with an exit code instead of a result. */
  isCommand: boolean;
}

/** The guest wrote something that is not a frame. */
export class ChannelFault extends Error {
  readonly limit: 'output' | undefined;

  constructor(message: string, limit?: 'output') {
    super(message);
    this.limit = limit;
  }
}

export class GuestChannel extends StreamNode {
  readonly #options: GuestChannelOptions;
  #pending: Buffer = Buffer.alloc(0);
  #answers: Buffer = Buffer.alloc(0);
  #denials = 0;
  #uses = 0;
  #reply: GuestReply | undefined;
  #fault: ChannelFault | undefined;

  constructor(options: GuestChannelOptions) {
    super();
    this.#options = options;
  }

  /** The reply of the call. Throws if the guest broke the protocol, even if it caught the exception. */
  get reply(): GuestReply | undefined {
    if (this.#fault) throw this.#fault;
    return this.#reply;
  }

  override write(bytes: Uint8Array): number {
    // A copy, because the view of the guest's memory is invalid after the next call.
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (let frame = this.#take(); frame; frame = this.#take()) this.#onFrame(frame);
    return bytes.length;
  }

  override read(into: Uint8Array): number {
    const chunk = this.#answers.subarray(0, into.length);
    into.set(chunk);
    this.#answers = this.#answers.subarray(chunk.length);
    return chunk.length;
  }

  #take(): GuestReply | undefined {
    if (this.#pending.length < HEADER_BYTES) return undefined;
    const bodyBytes = this.#pending.readUInt32LE(0);
    if (bodyBytes > MAX_BODY_BYTES) this.#refuse(new ChannelFault('a frame is too large'));
    const bodyEnd = HEADER_BYTES + bodyBytes;
    if (this.#pending.length < bodyEnd) return undefined;
    const body = this.#parse(this.#pending.subarray(HEADER_BYTES, bodyEnd));
    const payloadBytes = Number(body.payload_bytes ?? 0);
    if (!(payloadBytes >= 0 && payloadBytes <= this.#options.maxPayload))
      this.#refuse(new ChannelFault('the result is too large', 'output'));
    const end = bodyEnd + payloadBytes;
    if (this.#pending.length < end) return undefined;
    const payload = this.#pending.subarray(bodyEnd, end);
    this.#pending = this.#pending.subarray(end);
    return { body, payload };
  }

  #parse(bytes: Buffer): Body {
    try {
      const body: unknown = JSON.parse(bytes.toString('utf8'));
      if (typeof body === 'object' && body !== null) return body;
    } catch {
      // Reported below.
    }
    return this.#refuse(new ChannelFault('a frame is not JSON'));
  }

  #onFrame(frame: GuestReply): void {
    const kind = frame.body.t as keyof InnerPythonFrames;
    // The end of a command is the last that its harness sends: a script that claims it is found out by what follows.
    if (this.#reply?.body.t === 'ended')
      this.#refuse(new ChannelFault('a frame after the end of the command'));
    switch (kind) {
      case 'denied':
        if (this.#denials++ < MAX_DENIALS) this.#options.onEvent(eventOf('denied', frame.body));
        return;
      case 'used':
        if (this.#uses++ < MAX_USES) this.#options.onEvent(eventOf('used', frame.body));
        return;
      case 'ask':
        return this.#onAsk(frame);
      case 'result':
      case 'ended':
        if (this.#options.isCommand !== (kind === 'ended'))
          this.#refuse(new ChannelFault('a reply to another kind of call'));
        this.#reply ??= frame;
        return;
      case 'error':
        this.#reply ??= frame;
        return;
      default:
        kind satisfies never;
        this.#refuse(new ChannelFault('a frame has an unknown kind'));
    }
  }

  #onAsk({ body, payload }: GuestReply): void {
    const op = String(body.op);
    if (!ASKABLE.has(op)) return this.#answer({ code: 'nosys' });
    try {
      const args = (body.args ?? {}) as Record<string, unknown>;
      const { value, bytes }: BrokerAnswer = this.#options.ask(op, args, payload);
      this.#answer({ value }, bytes);
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#answer({ code: error.code });
    }
  }

  #answer(body: object, payload: Uint8Array = new Uint8Array()): void {
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

/** Passes on nothing else: if declared bytes were missing, the host would take our next frame for them. */
function eventOf(t: 'denied' | 'used', { capability, asked, declared }: Body): CellEvent {
  return { t, capability, asked, declared };
}
