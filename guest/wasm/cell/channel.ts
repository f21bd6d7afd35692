/**
 * The cell's end of the frame protocol: u32 little-endian length, one UTF-8 JSON object, and the raw bytes that the
 * object announces as `payload_bytes`. The host is trusted, so nothing is capped here.
 *
 * A cell serves one call at a time, so its process simply reads when it needs a frame. A blocking read is woken directly
 * by the kernel, without a round through the event loop, and needs no second stack.
 *
 * @module
 */
import { read, readSync, writeSync } from 'node:fs';
import type {
  ExitFields,
  FailureFields,
  FrameOf,
  ReusableFrames,
  ToReusable,
  Unchecked,
} from '../../protocol.ts';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;
const CHUNK_BYTES = 65_536;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** The host accepts only small frames for errors, and people do not read more of one than this. */
const MAX_TEXT = 4000;
const ERROR_KEYS = 't call type message trace explained limit exits fuel memory_bytes cpu_us'.split(' ');
const DENIAL_KEYS = ['capability', 'asked', 'declared'];

export interface Frame {
  body: FrameOf<ToReusable>;
  payload: Uint8Array;
}

/** A frame that a skill may have influenced: its fields can be anything. */
type Told<Kind> = Kind extends keyof ReusableFrames ? { t: Kind } & Unchecked<ReusableFrames[Kind]> : never;

export type CellEvent = Told<'denied' | 'used'>;

/** The result of a call. */
export interface Answer {
  body: { t: 'result' } | Ended | Failed;
  payload?: Uint8Array;
}

export type Failed = Told<'error'>;
export type Ended = { t: 'ended' } & ExitFields;

export class Channel {
  readonly #onInterrupted: () => never;
  /** True while bytes are being transferred. A guest can make the JavaScript stack overflow at any point, including here. */
  #isTransferring = false;
  #held = NO_BYTES;
  /** Bytes needed before the next frame can be complete, so that large frames are assembled once. */
  #needed = HEADER_BYTES;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  /** `onInterrupted` is called when a read or write was interrupted: later frames can no longer be delimited. */
  constructor(onInterrupted: () => never) {
    this.#onInterrupted = onInterrupted;
  }

  send(body: FrameOf<ReusableFrames> | CellEvent | Told<'error' | 'failed'>, payload?: Uint8Array): void {
    const frame = encode(body.t === 'error' || body.t === 'failed' ? shortened(body) : body, payload);
    this.#begin();
    let sent = writeSync(CHANNEL_FD, frame);
    while (sent < frame.length) sent += writeSync(CHANNEL_FD, frame, sent);
    this.#isTransferring = false;
  }

  /** The next frame of the host; undefined when the host is gone. */
  receive(): Frame | undefined {
    this.#begin();
    let frame = this.#take();
    while (!frame && this.#fill()) frame = this.#take();
    this.#isTransferring = false;
    return frame;
  }

  /** The same for callers that have other work. Nothing else may be read until it resolves. */
  async receiveLater(): Promise<Frame | undefined> {
    let frame = this.#take();
    while (!frame) {
      const count = await this.#readLater();
      if (count === 0) return undefined;
      this.#held = Buffer.concat([this.#held, this.#chunk.subarray(0, count)]);
      frame = this.#take();
    }
    return frame;
  }

  #begin(): void {
    if (this.#isTransferring) this.#onInterrupted();
    this.#isTransferring = true;
  }

  #readLater(): Promise<number> {
    return new Promise((resolve) => {
      read(CHANNEL_FD, this.#chunk, 0, CHUNK_BYTES, null, (error, count) => resolve(error ? 0 : count));
    });
  }

  /** Reads as much as is needed; false when the host is gone. */
  #fill(): boolean {
    const chunks = [this.#held];
    let have = this.#held.length;
    while (have < this.#needed) {
      const count = readSync(CHANNEL_FD, this.#chunk);
      if (count === 0) return false;
      chunks.push(Buffer.from(this.#chunk.subarray(0, count)));
      have += count;
    }
    this.#held = Buffer.concat(chunks);
    return true;
  }

  /** The next frame if it is complete; otherwise determines how much is needed. */
  #take(): Frame | undefined {
    const held = this.#held;
    this.#needed = HEADER_BYTES;
    if (held.length < this.#needed) return undefined;
    const textEnd = HEADER_BYTES + held.readUInt32LE(0);
    this.#needed = textEnd;
    if (held.length < textEnd) return undefined;
    const body = JSON.parse(held.toString('utf8', HEADER_BYTES, textEnd)) as Frame['body'] & Announced;
    const end = textEnd + (body.payload_bytes ?? 0);
    this.#needed = end;
    if (held.length < end) return undefined;
    this.#held = end < held.length ? held.subarray(end) : NO_BYTES;
    return { body, payload: new Uint8Array(held.subarray(textEnd, end)) };
  }
}

interface Announced {
  payload_bytes?: number;
}

function encode(body: object, payload: Uint8Array | undefined): Buffer {
  const text = JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length + (payload?.length ?? 0));
  frame.writeUInt32LE(length, 0);
  frame.write(text, HEADER_BYTES);
  if (payload) frame.set(payload, HEADER_BYTES + length);
  return frame;
}

/** An error with truncated texts and only the keys that errors have, because a skill can put anything into one. */
function shortened(body: Unchecked<FailureFields>): object {
  const { denied } = body;
  const isObject = typeof denied === 'object' && denied !== null;
  return {
    ...cut({ ...body }, ERROR_KEYS),
    ...(isObject ? { denied: cut({ ...denied }, DENIAL_KEYS) } : {}),
  };
}

function cut(part: Record<string, unknown>, keys: readonly string[]): object {
  const present = keys.filter((key) => part[key] !== undefined && typeof part[key] !== 'object');
  const short = (value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : value);
  return Object.fromEntries(present.map((key) => [key, short(part[key])]));
}
