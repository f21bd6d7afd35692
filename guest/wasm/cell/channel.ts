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
  readonly #onFrame: (frame: Frame) => void;
  #chunks: Buffer[] = [];
  #held = 0;
  /** A frame cannot be whole before so many bytes are here: large ones are put together once. */
  #needed = HEADER_BYTES;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
    this.#socket.on('data', (chunk: Buffer) => this.#push(chunk));
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

  #push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#needed) {
      const [first = chunk] = this.#chunks;
      const rest = this.#take(this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks));
      this.#chunks = [rest];
      this.#held = rest.length;
    }
  }

  /** Gives a whole frame to its handler and returns what is behind it; or finds out how much is needed. */
  #take(bytes: Buffer): Buffer {
    const textEnd = HEADER_BYTES + bytes.readUInt32LE(0);
    if (bytes.length < textEnd) {
      this.#needed = textEnd;
      return bytes;
    }
    const body = JSON.parse(bytes.toString('utf8', HEADER_BYTES, textEnd)) as Record<string, unknown>;
    const end = textEnd + Number(body['payload_bytes'] ?? 0);
    this.#needed = bytes.length < end ? end : HEADER_BYTES;
    if (bytes.length < end) return bytes;
    this.#onFrame({ body, payload: end > textEnd ? new Uint8Array(bytes.subarray(textEnd, end)) : NO_BYTES });
    return bytes.subarray(end);
  }
}
