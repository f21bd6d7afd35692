/**
 * The cell's end of the frame protocol: u32 little-endian length, one UTF-8 JSON object, and the raw bytes that the
 * object announces as `payload_bytes`. The host is trusted, so nothing is capped here.
 *
 * A cell serves one call at a time, so its process simply reads when it needs to know something. A blocking read is
 * woken by the kernel alone, where an event loop first has to find out what happened; and it needs no second stack.
 *
 * @module
 */
import { read, readSync, writeSync } from 'node:fs';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;
const CHUNK_BYTES = 65_536;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** The host reads small frames alone, and people read no more than this of an error. */
const MAX_TEXT = 4000;
const ERROR_KEYS = 't call type message trace explained limit fuel memory_bytes cpu_us'.split(' ');
const DENIAL_KEYS = ['capability', 'asked', 'declared'];

export interface Frame {
  body: Record<string, unknown>;
  payload: Uint8Array;
}

export class Channel {
  readonly #onInterrupted: () => never;
  /** True while bytes are on their way. A guest can choose where the stack of JavaScript ends, also in the middle of it. */
  #isUnderWay = false;
  #held = NO_BYTES;
  /** A frame cannot be whole before so many bytes are here: large ones are put together once. */
  #needed = HEADER_BYTES;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  /** `onInterrupted`: what was being read or written is lost, so nothing that comes after it can be told apart. */
  constructor(onInterrupted: () => never) {
    this.#onInterrupted = onInterrupted;
  }

  send(body: Record<string, unknown>, payload?: Uint8Array): void {
    const frame = encode(body['t'] === 'error' || body['t'] === 'failed' ? shortened(body) : body, payload);
    this.#begin();
    let sent = writeSync(CHANNEL_FD, frame);
    while (sent < frame.length) sent += writeSync(CHANNEL_FD, frame, sent);
    this.#isUnderWay = false;
  }

  /** The next frame of the host; undefined when it has gone. */
  receive(): Frame | undefined {
    this.#begin();
    let frame = this.#take();
    while (!frame && this.#fill()) frame = this.#take();
    this.#isUnderWay = false;
    return frame;
  }

  /** The same for who has something to do meanwhile. Nothing else may be read until it is there. */
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
    if (this.#isUnderWay) this.#onInterrupted();
    this.#isUnderWay = true;
  }

  #readLater(): Promise<number> {
    return new Promise((resolve) => {
      read(CHANNEL_FD, this.#chunk, 0, CHUNK_BYTES, null, (error, count) => resolve(error ? 0 : count));
    });
  }

  /** Reads as much as is needed; false when the host has gone. */
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

  /** The next frame if all of it is here; else finds out how much is needed. */
  #take(): Frame | undefined {
    const held = this.#held;
    this.#needed = HEADER_BYTES;
    if (held.length < this.#needed) return undefined;
    const textEnd = HEADER_BYTES + held.readUInt32LE(0);
    this.#needed = textEnd;
    if (held.length < textEnd) return undefined;
    const body = JSON.parse(held.toString('utf8', HEADER_BYTES, textEnd)) as Record<string, unknown>;
    const end = textEnd + Number(body['payload_bytes'] ?? 0);
    this.#needed = end;
    if (held.length < end) return undefined;
    this.#held = end < held.length ? held.subarray(end) : NO_BYTES;
    return { body, payload: new Uint8Array(held.subarray(textEnd, end)) };
  }
}

function encode(body: Record<string, unknown>, payload: Uint8Array | undefined): Buffer {
  const text = JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length + (payload?.length ?? 0));
  frame.writeUInt32LE(length, 0);
  frame.write(text, HEADER_BYTES);
  if (payload) frame.set(payload, HEADER_BYTES + length);
  return frame;
}

/** An error with its texts cut, and without what an error does not have: a skill can put anything into one. */
function shortened(body: Record<string, unknown>): Record<string, unknown> {
  const { denied } = body;
  const isObject = typeof denied === 'object' && denied !== null;
  return { ...cut(body, ERROR_KEYS), ...(isObject ? { denied: cut({ ...denied }, DENIAL_KEYS) } : {}) };
}

function cut(part: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const given = keys.filter((key) => part[key] !== undefined && typeof part[key] !== 'object');
  const short = (value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : value);
  return Object.fromEntries(given.map((key) => [key, short(part[key])]));
}
