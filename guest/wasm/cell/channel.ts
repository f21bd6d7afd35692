/**
 * The cell's end of the frame protocol: u32 little-endian length, one UTF-8 JSON object, and the raw bytes that the
 * object announces as `payload_bytes`. The host is trusted, so nothing is capped here.
 *
 * @module
 */
import { Socket } from 'node:net';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;

export interface Frame {
  body: Record<string, unknown>;
  payload: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

export class Channel {
  readonly #socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  #pending: Buffer = Buffer.alloc(0);

  constructor(onFrame: (frame: Frame) => void) {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
      for (let frame = this.#take(); frame; frame = this.#take()) onFrame(frame);
    });
    // Without a host there is nobody to work for.
    this.#socket.on('close', () => process.exit(0));
    this.#socket.on('error', () => process.exit(0));
  }

  send(body: Record<string, unknown>, payload?: Uint8Array): void {
    const text = Buffer.from(JSON.stringify(payload ? { ...body, payload_bytes: payload.length } : body));
    const frame = Buffer.allocUnsafe(HEADER_BYTES + text.length + (payload?.length ?? 0));
    frame.writeUInt32LE(text.length, 0);
    text.copy(frame, HEADER_BYTES);
    if (payload) frame.set(payload, HEADER_BYTES + text.length);
    this.#socket.write(frame);
  }

  #take(): Frame | undefined {
    if (this.#pending.length < HEADER_BYTES) return undefined;
    const textEnd = HEADER_BYTES + this.#pending.readUInt32LE(0);
    if (this.#pending.length < textEnd) return undefined;
    const body = JSON.parse(this.#pending.toString('utf8', HEADER_BYTES, textEnd)) as Record<string, unknown>;
    const end = textEnd + Number(body['payload_bytes'] ?? 0);
    if (this.#pending.length < end) return undefined;
    const payload = end > textEnd ? Uint8Array.from(this.#pending.subarray(textEnd, end)) : NO_BYTES;
    this.#pending = this.#pending.subarray(end);
    return { body, payload };
  }
}
