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
  const pending: Buffer[] = [];
  let held = 0;
  let frames = 0;
  let faulted = false;

  const fail = (fault: FrameFault): void => {
    faulted = true;
    pending.length = 0;
    handlers.onFault(fault);
  };

  const takeFrame = (): boolean => {
    const size = peekLength(pending, held);
    if (size === undefined) return false;
    if (size > limits.maxBytes) return (void fail({ kind: 'too_large', bytes: size }), false);
    if (held < HEADER_BYTES + size) return false;
    if (++frames > limits.maxFrames) {
      return (void fail({ kind: 'malformed', message: `more than ${limits.maxFrames} frames` }), false);
    }
    const all = pending.length === 1 && pending[0] ? pending[0] : Buffer.concat(pending, held);
    const rest = all.subarray(HEADER_BYTES + size);
    pending.length = 0;
    if (rest.length > 0) pending.push(rest);
    held = rest.length;
    return deliver(all.subarray(HEADER_BYTES, HEADER_BYTES + size));
  };

  const deliver = (bytes: Buffer): boolean => {
    const parsed = parseObject(bytes);
    if (typeof parsed === 'string') return (void fail({ kind: 'malformed', message: parsed }), false);
    handlers.onFrame({ body: parsed.value, bytes: bytes.length, warnings: parsed.warnings });
    return !faulted;
  };

  channel.on('data', (chunk: Buffer) => {
    if (faulted) return;
    pending.push(chunk);
    held += chunk.length;
    while (takeFrame());
  });
}

function peekLength(pending: Buffer[], held: number): number | undefined {
  if (held < HEADER_BYTES) return undefined;
  const first = pending[0];
  if (first && first.length >= HEADER_BYTES) return first.readUInt32LE(0);
  return Buffer.concat(pending, held).readUInt32LE(0);
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
