/**
 * The host's side of the frame protocol: u32 little-endian length, then one UTF-8 JSON object. A frame whose object
 * has the number `payload_bytes` is followed by that many raw bytes: bodies need no detour through text.
 * Whatever comes from a guest is data of unknown intent: capped in size and number before it is parsed.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import { JsonText, MAX_JSON_HERE } from '../json-text.ts';
import { parseGuestJson, type GuestJson } from './guest-json.ts';

const HEADER_BYTES = 4;
/** The largest ordinary frame: all but replies are a few words about a denial, a use or a request. */
export const MAX_SMALL_FRAME: number = 16 * 1024;

export interface FrameLimits {
  /** Largest JSON of a reply (`result`, `error`). Absent: no frame may be larger than an ordinary one. */
  maxReplyBytes?: number;
  /** Largest JSON of all other frames. */
  maxBytes?: number;
  /** Most raw bytes behind a frame. Absent: as many as a frame may have. */
  maxPayloadBytes?: number;
  /** Most frames accepted over the life of the channel. */
  maxFrames: number;
  /** JSON of all frames together, replies left out. */
  maxTotalBytes?: number;
}

/** A reply too large to be parsed on this thread. Its kind is the first thing that it says. */
export interface LargeReply {
  kind: ReplyKind;
  /** The whole frame, unchecked. */
  json: Buffer;
}

export type ReplyKind = 'result' | 'error';

export interface GuestFrame {
  body: Record<string, unknown>;
  /** Size of the whole frame, raw bytes included. */
  bytes: number;
  /** The raw bytes behind the frame. */
  payload?: Buffer;
  /** Remarks of the parser, e.g. about numbers that lose precision. */
  warnings: string[];
}

/** What is wrong with the guest's side of the conversation. */
export type FrameFault = { kind: 'too_large'; bytes: number } | { kind: 'malformed'; message: string };

export interface FrameHandlers {
  onFrame: (frame: GuestFrame) => void;
  /** Absent: every reply is parsed here, so the limits have to keep it small. */
  onLargeReply?: (reply: LargeReply) => void;
  /** Called once; nothing is read after it. */
  onFault: (fault: FrameFault) => void;
  /** What one of the others threw: a fault of ours. Called once; nothing is read after it. Absent: it is thrown on. */
  onThrown?: (thrown: unknown) => void;
}

export function encodeFrame(body: Record<string, unknown>, payload?: Uint8Array): Buffer {
  const text = Buffer.from(
    JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body),
    'utf8',
  );
  const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length + (payload?.length ?? 0));
  frame.writeUInt32LE(text.length, 0);
  text.copy(frame, HEADER_BYTES);
  if (payload) frame.set(payload, HEADER_BYTES + text.length);
  return frame;
}

/** How the frame of a call begins; the parameters follow, and a brace. */
export const CALL_START = '{"t":"call","params":';

/** The frame of a call. The text of large parameters goes into it as it is. */
export function encodeCall(params: unknown): Buffer {
  if (!(params instanceof JsonText)) return encodeFrame({ t: 'call', params });
  const size = CALL_START.length + params.bytes.length + 1;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(size, 0);
  return Buffer.concat([header, Buffer.from(CALL_START), params.bytes, Buffer.from('}')]);
}

/** Reads frames from a channel until it ends or the guest breaks the rules. */
export function readFrames(channel: Duplex, limits: FrameLimits, handlers: FrameHandlers): void {
  const reader = new FrameReader(limits, handlers);
  channel.on('data', (chunk: Buffer) => reader.push(chunk));
}

/** How a harness begins a reply. A frame that begins otherwise is an ordinary one and has to be small. */
const REPLY = /^\s*\{\s*"t"\s*:\s*"(result|error)"\s*[,}]/;
const REPLY_BYTES = 64;

class FrameReader {
  readonly #limits: Required<FrameLimits>;
  readonly #handlers: FrameHandlers;
  #pending: Buffer[] = [];
  #held = 0;
  #frames = 0;
  #total = 0;
  #faulted = false;
  /** A frame whose raw bytes are still to come. */
  #awaiting: GuestFrame | undefined;

  constructor(limits: FrameLimits, handlers: FrameHandlers) {
    const { maxBytes = MAX_SMALL_FRAME } = limits;
    const unset = { maxReplyBytes: maxBytes, maxPayloadBytes: maxBytes, maxTotalBytes: Infinity };
    this.#limits = { ...unset, maxBytes, ...limits };
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    if (this.#faulted) return;
    try {
      this.#read(chunk);
    } catch (thrown) {
      this.#stop();
      if (!this.#handlers.onThrown) throw thrown;
      this.#handlers.onThrown(thrown);
    }
  }

  #read(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#held += chunk.length;
    while (this.#awaiting ? this.#takePayload(this.#awaiting) : this.#takeFrame());
  }

  /** True when there may be more to take. */
  #takeFrame(): boolean {
    const size = this.#nextSize();
    if (size === undefined) return false;
    const isLarge = size > this.#limits.maxBytes;
    const kind = isLarge ? this.#replyKind() : undefined;
    // Before it is held: nobody would read it.
    if (isLarge && kind === undefined) this.#fail({ kind: 'too_large', bytes: size });
    if (this.#held < HEADER_BYTES + size) return false;
    this.#take(HEADER_BYTES);
    this.#deliver(this.#take(size), kind);
    return !this.#faulted;
  }

  #takePayload(frame: GuestFrame): boolean {
    const size = Number(frame.body['payload_bytes']);
    if (this.#faulted || this.#held < size) return false;
    this.#awaiting = undefined;
    this.#handlers.onFrame({ ...frame, bytes: frame.bytes + size, payload: this.#take(size) });
    return !this.#faulted;
  }

  /** Length of the next frame as soon as it can be judged. */
  #nextSize(): number | undefined {
    if (this.#faulted || this.#held < HEADER_BYTES) return undefined;
    const size = this.#peek(HEADER_BYTES).readUInt32LE(0);
    const { maxBytes, maxReplyBytes } = this.#limits;
    if (size > Math.max(maxBytes, maxReplyBytes)) return this.#fail({ kind: 'too_large', bytes: size });
    return this.#held < HEADER_BYTES + Math.min(size, REPLY_BYTES) ? undefined : size;
  }

  /** The first bytes of what is held, in one piece. */
  #peek(bytes: number): Buffer {
    if ((this.#pending[0]?.length ?? 0) < bytes && this.#pending.length > 1)
      this.#pending = [Buffer.concat(this.#pending)];
    return this.#pending[0] ?? Buffer.alloc(0);
  }

  #replyKind(): ReplyKind | undefined {
    const start = this.#peek(HEADER_BYTES + REPLY_BYTES).subarray(HEADER_BYTES, HEADER_BYTES + REPLY_BYTES);
    return REPLY.exec(start.toString('latin1'))?.[1] as ReplyKind | undefined;
  }

  #take(size: number): Buffer {
    const all =
      this.#pending.length === 1 && this.#pending[0] ? this.#pending[0] : Buffer.concat(this.#pending);
    const rest = all.subarray(size);
    this.#pending = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    return all.subarray(0, size);
  }

  #deliver(bytes: Buffer, large: ReplyKind | undefined): void {
    const { maxFrames, maxTotalBytes } = this.#limits;
    if (++this.#frames > maxFrames) return this.#malformed(`more than ${maxFrames} frames`);
    const { onLargeReply } = this.#handlers;
    if (large && onLargeReply && bytes.length > MAX_JSON_HERE)
      return onLargeReply({ kind: large, json: bytes });
    if (!large) this.#total += bytes.length;
    if (this.#total > maxTotalBytes) return this.#malformed(`more than ${maxTotalBytes} bytes of frames`);
    const parsed = parseObject(bytes);
    if (typeof parsed === 'string') return this.#malformed(parsed);
    return this.#deliverParsed({ body: parsed.value, bytes: bytes.length, warnings: parsed.warnings });
  }

  #deliverParsed(frame: GuestFrame): void {
    const raw = frame.body['payload_bytes'];
    if (raw === undefined) return this.#handlers.onFrame(frame);
    if (!Number.isSafeInteger(raw) || Number(raw) < 0) return this.#malformed('a wrong byte count');
    if (Number(raw) > this.#limits.maxPayloadBytes)
      return this.#fail({ kind: 'too_large', bytes: Number(raw) });
    this.#awaiting = frame;
  }

  #malformed(message: string): void {
    this.#fail({ kind: 'malformed', message });
  }

  #stop(): void {
    this.#faulted = true;
    this.#pending = [];
    this.#held = 0;
  }

  #fail(fault: FrameFault): undefined {
    this.#stop();
    this.#handlers.onFault(fault);
  }
}

function parseObject(bytes: Buffer): { value: Record<string, unknown>; warnings: string[] } | string {
  let parsed: GuestJson;
  try {
    parsed = parseGuestJson(bytes, 1);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { value, warnings } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a frame that is no object';
  return { value: value as Record<string, unknown>, warnings };
}
