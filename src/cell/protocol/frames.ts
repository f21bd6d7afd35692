/**
 * The host's side of the frame protocol: u32 little-endian length, then one UTF-8 JSON object. A frame whose object
 * has the number `payload_bytes` is followed by that many raw bytes, so that bodies need not be encoded as text.
 * Everything from a guest is untrusted: capped in size and number before it is parsed.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import type { CommandStart, FrameOf, ToSingleUse } from '../../../guest/protocol.ts';
import { JsonText, MAX_JSON_HERE } from '../../json-text.ts';
import { parseGuestJson, type GuestJson } from './guest-json.ts';

const HEADER_BYTES = 4;
/** The largest frame that is not a reply: such frames only describe a denial, a use or a request. */
export const MAX_SMALL_FRAME: number = 16 * 1024;

export interface FrameLimits {
  /** Largest JSON of a reply (`result`, `error`). Absent: replies have the same limit as other frames. */
  maxReplyBytes?: number;
  /** Largest JSON of all other frames. */
  maxBytes?: number;
  /** Most raw bytes behind a frame. Absent: `maxBytes`. */
  maxPayloadBytes?: number;
  /** Most frames accepted over the life of the channel. */
  maxFrames: number;
  /** Most JSON bytes of all frames together, not counting replies. */
  maxTotalBytes?: number;
}

/** A reply too large to be parsed on this thread. Only the kind at its start has been read. */
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
  /** Warnings of the parser, e.g. about numbers that lose precision. */
  warnings: string[];
}

/** How the guest violated the protocol. */
export type FrameFault = { kind: 'too_large'; bytes: number } | { kind: 'malformed'; message: string };

export interface FrameHandlers {
  onFrame: (frame: GuestFrame) => void;
  /** Absent: every reply is parsed on this thread, so the limits have to keep it small. */
  onLargeReply?: (reply: LargeReply) => void;
  /** Called once; nothing is read after it. */
  onFault: (fault: FrameFault) => void;
  /** Called once with what another handler threw; nothing is read after it. Absent: the error is rethrown. */
  onThrown?: (thrown: unknown) => void;
}

export function encodeFrame(body: object, payload?: Uint8Array): Buffer {
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

/** Start of a call frame; the parameters and a closing brace follow. */
export const CALL_START = '{"t":"call","params":';

/** Encodes a call frame. Large parameters are already JSON text and are copied unchanged. */
export function encodeCall(params: unknown, command?: CommandStart): Buffer {
  const extra = command ? { command } : {};
  if (!(params instanceof JsonText))
    return encodeFrame({ t: 'call', params, ...extra } satisfies FrameOf<ToSingleUse>);
  const end = Buffer.from(command ? `,"command":${JSON.stringify(command)}}` : '}');
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(CALL_START.length + params.bytes.length + end.length, 0);
  return Buffer.concat([header, Buffer.from(CALL_START), params.bytes, end]);
}

/** The parameters for a cell that serves many calls, with the command if it runs commands. */
export function encodeParams(params: unknown, command?: CommandStart): Uint8Array {
  const text = params instanceof JsonText ? params.bytes : Buffer.from(JSON.stringify(params));
  if (!command) return text;
  return Buffer.concat([
    Buffer.from('{"params":'),
    text,
    Buffer.from(`,"command":${JSON.stringify(command)}}`),
  ]);
}

/** Reads frames from a channel until it ends or the guest breaks the rules. The returned function leaves it to another reader. */
export function readFrames(channel: Duplex, limits: FrameLimits, handlers: FrameHandlers): () => void {
  const reader = new FrameReader(limits, handlers);
  const onData = (chunk: Buffer): void => reader.push(chunk);
  channel.on('data', onData);
  return () => channel.off('data', onData);
}

/** Start of a reply. A frame that starts differently has to be small. */
const REPLY = /^\s*\{\s*"t"\s*:\s*"(result|error)"\s*[,}]/;
const REPLY_BYTES = 64;

class FrameReader {
  readonly #limits: Required<FrameLimits>;
  readonly #handlers: FrameHandlers;
  #pending: Buffer[] = [];
  #buffered = 0;
  #frames = 0;
  #total = 0;
  #hasStopped = false;
  /** A frame whose raw bytes have not arrived yet. */
  #incomplete: GuestFrame | undefined;

  constructor(limits: FrameLimits, handlers: FrameHandlers) {
    const { maxBytes = MAX_SMALL_FRAME } = limits;
    const unset = { maxReplyBytes: maxBytes, maxPayloadBytes: maxBytes, maxTotalBytes: Infinity };
    this.#limits = { ...unset, maxBytes, ...limits };
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    if (this.#hasStopped) return;
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
    this.#buffered += chunk.length;
    while (this.#incomplete ? this.#takePayload(this.#incomplete) : this.#takeFrame());
  }

  /** Returns true if there may be more to take. */
  #takeFrame(): boolean {
    const size = this.#nextSize();
    if (size === undefined) return false;
    const isLarge = size > this.#limits.maxBytes;
    const kind = isLarge ? this.#replyKind() : undefined;
    // Rejected before its bytes are buffered.
    if (isLarge && kind === undefined) this.#fail({ kind: 'too_large', bytes: size });
    if (this.#buffered < HEADER_BYTES + size) return false;
    this.#take(HEADER_BYTES);
    this.#deliver(this.#take(size), kind);
    return !this.#hasStopped;
  }

  #takePayload(frame: GuestFrame): boolean {
    const size = Number(frame.body['payload_bytes']);
    if (this.#hasStopped || this.#buffered < size) return false;
    this.#incomplete = undefined;
    this.#handlers.onFrame({ ...frame, bytes: frame.bytes + size, payload: this.#take(size) });
    return !this.#hasStopped;
  }

  /** Length of the next frame, once enough of it has arrived to judge it. */
  #nextSize(): number | undefined {
    if (this.#hasStopped || this.#buffered < HEADER_BYTES) return undefined;
    const size = this.#peek(HEADER_BYTES).readUInt32LE(0);
    const { maxBytes, maxReplyBytes } = this.#limits;
    if (size > Math.max(maxBytes, maxReplyBytes)) return this.#fail({ kind: 'too_large', bytes: size });
    return this.#buffered < HEADER_BYTES + Math.min(size, REPLY_BYTES) ? undefined : size;
  }

  /** The first buffered bytes, in one piece. */
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
    this.#buffered = rest.length;
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
    if (!Number.isSafeInteger(raw) || Number(raw) < 0) return this.#malformed('an invalid byte count');
    if (Number(raw) > this.#limits.maxPayloadBytes)
      return this.#fail({ kind: 'too_large', bytes: Number(raw) });
    this.#incomplete = frame;
  }

  #malformed(message: string): void {
    this.#fail({ kind: 'malformed', message });
  }

  #stop(): void {
    this.#hasStopped = true;
    this.#pending = [];
    this.#buffered = 0;
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'a frame that is not an object';
  return { value: value as Record<string, unknown>, warnings };
}
