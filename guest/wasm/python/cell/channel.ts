/**
 * The cell's end of the frame protocol, without an event loop. The engine cannot wait for a promise, and a cell serves
 * one call at a time: so the process simply reads when it needs to know something. A blocking read takes as long as the
 * round trip, costs no CPU, and needs no second stack to switch to.
 *
 * @module
 */
import { readSync, writeSync } from 'node:fs';
import type { Frame } from '../../cell/channel.ts';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;
const CHUNK_BYTES = 65_536;

export class SyncChannel {
  readonly #onInterrupted: () => never;
  /** True while bytes are on their way. A guest can choose where the stack of JavaScript ends, also in the middle of it. */
  #isUnderWay = false;
  #pending: Buffer = Buffer.alloc(0);
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  /** `onInterrupted`: what was being read or written is lost, so nothing that comes after it can be told apart. */
  constructor(onInterrupted: () => never) {
    this.#onInterrupted = onInterrupted;
  }

  send(body: Record<string, unknown>, payload?: Uint8Array): void {
    const frame = encode(body, payload);
    this.#begin();
    for (let rest = frame; rest.length > 0;) rest = rest.subarray(writeSync(CHANNEL_FD, rest));
    this.#isUnderWay = false;
  }

  /** The next frame of the host; undefined when it has gone. */
  receive(): Frame | undefined {
    this.#begin();
    const frame = this.#take();
    this.#isUnderWay = false;
    return frame;
  }

  #begin(): void {
    if (this.#isUnderWay) this.#onInterrupted();
    this.#isUnderWay = true;
  }

  #take(): Frame | undefined {
    if (!this.#fill(HEADER_BYTES)) return undefined;
    const textEnd = HEADER_BYTES + this.#pending.readUInt32LE(0);
    if (!this.#fill(textEnd)) return undefined;
    const body = JSON.parse(this.#pending.toString('utf8', HEADER_BYTES, textEnd)) as Record<string, unknown>;
    const end = textEnd + Number(body['payload_bytes'] ?? 0);
    if (!this.#fill(end)) return undefined;
    const payload = Uint8Array.from(this.#pending.subarray(textEnd, end));
    this.#pending = this.#pending.subarray(end);
    return { body, payload };
  }

  /** Reads until so many bytes are there. */
  #fill(length: number): boolean {
    if (this.#pending.length >= length) return true;
    const chunks = [this.#pending];
    let have = this.#pending.length;
    while (have < length) {
      const count = readSync(CHANNEL_FD, this.#chunk);
      if (count === 0) return false;
      chunks.push(Buffer.from(this.#chunk.subarray(0, count)));
      have += count;
    }
    this.#pending = Buffer.concat(chunks);
    return true;
  }
}

function encode(body: Record<string, unknown>, payload: Uint8Array | undefined): Buffer {
  const text = Buffer.from(JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body));
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(text.length);
  return Buffer.concat(payload ? [header, text, payload] : [header, text]);
}
