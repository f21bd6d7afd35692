/**
 * The host's side of the frame protocol: u32 little-endian length, then one UTF-8 JSON object.
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
  bytes: number;
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

export function encodeFrame(body: Record<string, unknown>): Buffer {
  const text = Buffer.from(JSON.stringify(body), 'utf8');
  const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length);
  frame.writeUInt32LE(text.length, 0);
  text.copy(frame, HEADER_BYTES);
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

  constructor(limits: FrameLimits, handlers: FrameHandlers) {
    this.#limits = limits;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    if (this.#faulted) return;
    this.#pending.push(chunk);
    this.#held += chunk.length;
    for (let size = this.#nextSize(); size !== undefined; size = this.#nextSize())
      this.#deliver(this.#take(size));
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
    const rest = all.subarray(HEADER_BYTES + size);
    this.#pending = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    return all.subarray(HEADER_BYTES, HEADER_BYTES + size);
  }

  #deliver(bytes: Buffer): void {
    const { maxFrames } = this.#limits;
    if (++this.#frames > maxFrames) {
      this.#fail({ kind: 'malformed', message: `more than ${maxFrames} frames` });
      return;
    }
    const parsed = parseObject(bytes);
    if (typeof parsed === 'string') this.#fail({ kind: 'malformed', message: parsed });
    else this.#handlers.onFrame({ body: parsed.value, bytes: bytes.length, warnings: parsed.warnings });
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
