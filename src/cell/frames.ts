/**
 * The host's side of the frame protocol: u32 little-endian length, then one UTF-8 JSON object. A frame whose object
 * has the number `payload_bytes` is followed by that many raw bytes: bodies need no detour through text.
 * Whatever comes from a guest is data of unknown intent: capped in size and number before it is parsed.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import { parseGuestJson, type GuestJson } from './guest-json.ts';

const HEADER_BYTES = 4;

export interface FrameLimits {
  /** Largest frame accepted. */
  maxBytes: number;
  /** Most frames accepted over the life of the channel. */
  maxFrames: number;
}

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
  /** Called once; nothing is read after it. */
  onFault: (fault: FrameFault) => void;
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

/** Reads frames from a channel until it ends or the guest breaks the rules. */
export function readFrames(channel: Duplex, limits: FrameLimits, handlers: FrameHandlers): void {
  const reader = new FrameReader(limits, handlers);
  channel.on('data', (chunk: Buffer) => reader.push(chunk));
}

class FrameReader {
  readonly #limits: FrameLimits;
  readonly #handlers: FrameHandlers;
  #pending: Buffer[] = [];
  #held = 0;
  #frames = 0;
  #faulted = false;
  /** A frame whose raw bytes are still to come. */
  #awaiting: GuestFrame | undefined;

  constructor(limits: FrameLimits, handlers: FrameHandlers) {
    this.#limits = limits;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    if (this.#faulted) return;
    this.#pending.push(chunk);
    this.#held += chunk.length;
    while (this.#awaiting ? this.#takePayload(this.#awaiting) : this.#takeFrame());
  }

  /** True when there may be more to take. */
  #takeFrame(): boolean {
    const size = this.#nextSize();
    if (size === undefined) return false;
    this.#take(HEADER_BYTES);
    this.#deliver(this.#take(size));
    return !this.#faulted;
  }

  #takePayload(frame: GuestFrame): boolean {
    const size = Number(frame.body['payload_bytes']);
    if (this.#faulted || this.#held < size) return false;
    this.#awaiting = undefined;
    this.#handlers.onFrame({ ...frame, bytes: frame.bytes + size, payload: this.#take(size) });
    return !this.#faulted;
  }

  /** Length of the next frame when all of it is here. */
  #nextSize(): number | undefined {
    if (this.#faulted || this.#held < HEADER_BYTES) return undefined;
    if ((this.#pending[0]?.length ?? 0) < HEADER_BYTES) this.#pending = [Buffer.concat(this.#pending)];
    const size = this.#pending[0]?.readUInt32LE(0) ?? 0;
    if (size > this.#limits.maxBytes) return this.#fail({ kind: 'too_large', bytes: size });
    return this.#held < HEADER_BYTES + size ? undefined : size;
  }

  #take(size: number): Buffer {
    const all =
      this.#pending.length === 1 && this.#pending[0] ? this.#pending[0] : Buffer.concat(this.#pending);
    const rest = all.subarray(size);
    this.#pending = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    return all.subarray(0, size);
  }

  #deliver(bytes: Buffer): void {
    const { maxFrames, maxBytes } = this.#limits;
    if (++this.#frames > maxFrames) {
      this.#fail({ kind: 'malformed', message: `more than ${maxFrames} frames` });
      return;
    }
    const parsed = parseObject(bytes);
    if (typeof parsed === 'string') {
      this.#fail({ kind: 'malformed', message: parsed });
      return;
    }
    const frame = { body: parsed.value, bytes: bytes.length, warnings: parsed.warnings };
    const raw = parsed.value['payload_bytes'];
    if (raw === undefined) this.#handlers.onFrame(frame);
    else if (!Number.isSafeInteger(raw) || Number(raw) < 0)
      this.#fail({ kind: 'malformed', message: 'a wrong byte count' });
    else if (Number(raw) > maxBytes) this.#fail({ kind: 'too_large', bytes: Number(raw) });
    else this.#awaiting = frame;
  }

  #fail(fault: FrameFault): undefined {
    this.#faulted = true;
    this.#pending = [];
    this.#handlers.onFault(fault);
  }
}

function parseObject(bytes: Buffer): { value: Record<string, unknown>; warnings: string[] } | string {
  let parsed: GuestJson;
  try {
    parsed = parseGuestJson(bytes);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { value, warnings } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a frame that is no object';
  return { value: value as Record<string, unknown>, warnings };
}
