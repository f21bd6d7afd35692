/**
 * For images that do not speak frames: one JSON value goes to stdin, one comes back on stdout. This adapter translates
 * between these streams and the frames that the host expects.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { FrameOf, SingleUseFrames } from '../../../../guest/protocol.ts';
import type { ExitInfo } from '../../contract.ts';
import { MAX_JSON_HERE } from '../../../json-text.ts';
import { CALL_START, encodeFrame } from '../../protocol/frames.ts';
import { parseGuestJson } from '../../protocol/guest-json.ts';

const HEADER_BYTES = 4;
/** Room in a frame in addition to the result. */
const FRAME_SLACK_BYTES = 32 * 1024;

export interface StdioStreams {
  input: Writable;
  output: Readable;
  /** True when the program runs, false if it failed to start. */
  started: Promise<boolean>;
  exited: Promise<ExitInfo>;
  /** The output limit of the cell; output beyond it is discarded. */
  maxBytes: number;
}

export class StdioChannel extends Duplex {
  readonly #streams: StdioStreams;
  /** Bytes of an incomplete frame from the host. */
  #incoming: Buffer = Buffer.alloc(0);
  readonly #called = Promise.withResolvers<void>();
  #answer: Buffer[] = [];
  #bytes = 0;

  constructor(streams: StdioStreams) {
    super({ allowHalfOpen: true });
    this.#streams = streams;
    // A program may close its input without reading it; only its output matters.
    streams.input.on('error', () => undefined);
    streams.output.on('data', (chunk: Buffer) => this.#onOutput(chunk));
    streams.output.on('error', () => undefined);
    const ready = streams.started.then((runs) => runs && this.push(encode({ t: 'ready' })));
    const finished = Promise.all([streams.exited, waitForEnd(streams.output), ready]);
    unattended(
      finished.then(([exit]) => this.#onEnd(exit)),
      () => this.destroy(),
    );
  }

  override _read(): void {
    // Data is pushed as it arrives.
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#incoming = this.#incoming.length === 0 ? chunk : Buffer.concat([this.#incoming, chunk]);
    while (this.#takeFrame());
    done();
  }

  /** Frames of the host are trusted, so the parameters are cut out of the frame without parsing it. */
  #takeFrame(): boolean {
    if (this.#incoming.length < HEADER_BYTES) return false;
    const end = HEADER_BYTES + this.#incoming.readUInt32LE(0);
    if (this.#incoming.length < end) return false;
    const frame = this.#incoming.subarray(HEADER_BYTES, end);
    this.#incoming = this.#incoming.subarray(end);
    if (frame.toString('latin1', 0, CALL_START.length) !== CALL_START) return true;
    const input = this.#streams.input;
    input.write(frame.subarray(CALL_START.length, -1));
    input.end('\n');
    this.#called.resolve();
    return true;
  }

  #onOutput(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#streams.maxBytes) this.#answer.push(chunk);
    else if (this.#bytes - chunk.length <= this.#streams.maxBytes) this.#reportTooMuch();
  }

  /** A frame header with a size beyond the limit makes the host kill the cell for its output. */
  #reportTooMuch(): void {
    this.#answer = [];
    const header = Buffer.alloc(4);
    header.writeUInt32LE(this.#streams.maxBytes + FRAME_SLACK_BYTES * 4);
    this.push(header);
  }

  async #onEnd({ code }: ExitInfo): Promise<void> {
    const text = Buffer.concat(this.#answer);
    // For a program that failed or printed nothing, the exit status says more.
    const hasAnswered = code === 0 && text.toString('utf8').trim() !== '';
    if (hasAnswered && this.#bytes <= this.#streams.maxBytes) {
      // A program that needs no parameters may exit before it gets them, but the reply must follow the call.
      await this.#called.promise;
      this.push(reply(text));
    }
    this.push(null);
  }
}

async function waitForEnd(output: Readable): Promise<void> {
  if (output.readableEnded || output.destroyed) return;
  await new Promise<void>((resolve) => output.once('end', resolve).once('close', resolve));
}

function reply(text: Buffer): Buffer {
  // As a payload after the frame, which a worker thread parses.
  if (text.length > MAX_JSON_HERE) return encode({ t: 'result' }, text);
  try {
    // Encoded again from the parsed value: a guest's text is never copied into a frame.
    return encode({ t: 'result', value: parseGuestJson(text).value });
  } catch (error) {
    const message = `its output is not one JSON value: ${error instanceof Error ? error.message : String(error)}`;
    return encode({ t: 'error', type: 'NotJson', message, trace: '', explained: 'wholly' });
  }
}

/** Sends a frame in place of a harness, which the image does not have. */
function encode(frame: FrameOf<SingleUseFrames>, payload?: Buffer): Buffer {
  return encodeFrame(frame, payload);
}
