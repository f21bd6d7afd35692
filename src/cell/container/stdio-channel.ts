/**
 * For images that know no frames: one JSON value goes in on standard input, one comes back on standard output. This is
 * the host's end of both, and towards the host it speaks the frames that every cell speaks.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { ExitInfo } from '../contract.ts';
import { MAX_JSON_HERE } from '../../json-text.ts';
import { CALL_START, encodeFrame } from '../frames.ts';
import { parseGuestJson } from '../guest-json.ts';

const HEADER_BYTES = 4;
/** Room in a frame beside the result itself. */
const FRAME_SLACK_BYTES = 32 * 1024;

export interface StdioStreams {
  input: Writable;
  output: Readable;
  /** True when the program runs, false when it never will. */
  started: Promise<boolean>;
  exited: Promise<ExitInfo>;
  /** More output than this is not held: the cell has gone beyond its limit. */
  maxBytes: number;
}

export class StdioChannel extends Duplex {
  readonly #streams: StdioStreams;
  /** Bytes of a frame of the host that is not whole yet. */
  #order: Buffer = Buffer.alloc(0);
  readonly #called = Promise.withResolvers<void>();
  #answer: Buffer[] = [];
  #bytes = 0;

  constructor(streams: StdioStreams) {
    super({ allowHalfOpen: true });
    this.#streams = streams;
    // A program that does not read its input closes it; what it answers is told by its output.
    streams.input.on('error', () => undefined);
    streams.output.on('data', (chunk: Buffer) => this.#onOutput(chunk));
    streams.output.on('error', () => undefined);
    const begun = streams.started.then((runs) => runs && this.push(encodeFrame({ t: 'ready' })));
    const over = Promise.all([streams.exited, ended(streams.output), begun]);
    unattended(
      over.then(([exit]) => this.#onEnd(exit)),
      () => this.destroy(),
    );
  }

  override _read(): void {
    // Everything is pushed when it is there.
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#order = this.#order.length === 0 ? chunk : Buffer.concat([this.#order, chunk]);
    while (this.#takeOrder());
    done();
  }

  /** What the host sends is ours: the parameters are cut out of the frame, without reading them again. */
  #takeOrder(): boolean {
    if (this.#order.length < HEADER_BYTES) return false;
    const end = HEADER_BYTES + this.#order.readUInt32LE(0);
    if (this.#order.length < end) return false;
    const frame = this.#order.subarray(HEADER_BYTES, end);
    this.#order = this.#order.subarray(end);
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
    else if (this.#bytes - chunk.length <= this.#streams.maxBytes) this.#tooMuch();
  }

  /** A frame that claims to be as large as the output ends the cell with the limit that it broke. */
  #tooMuch(): void {
    this.#answer = [];
    const header = Buffer.alloc(4);
    header.writeUInt32LE(this.#streams.maxBytes + FRAME_SLACK_BYTES * 4);
    this.push(header);
  }

  async #onEnd({ code }: ExitInfo): Promise<void> {
    const text = Buffer.concat(this.#answer);
    // A program that failed, or said nothing at all: how it ended says more.
    const hasAnswered = code === 0 && text.toString('utf8').trim() !== '';
    if (hasAnswered && this.#bytes <= this.#streams.maxBytes) {
      // A program that needs no params may end before it gets them. Nobody is answered who has not asked.
      await this.#called.promise;
      this.push(reply(text));
    }
    this.push(null);
  }
}

async function ended(output: Readable): Promise<void> {
  if (output.readableEnded || output.destroyed) return;
  await new Promise<void>((resolve) => output.once('end', resolve).once('close', resolve));
}

function reply(text: Buffer): Buffer {
  // Behind the frame and not in it; a worker thread reads it.
  if (text.length > MAX_JSON_HERE) return encodeFrame({ t: 'result' }, text);
  try {
    // Once more from what was parsed: the text of a guest is never put into a frame as it is.
    return encodeFrame({ t: 'result', value: parseGuestJson(text).value });
  } catch (error) {
    const message = `its output is not one JSON value: ${error instanceof Error ? error.message : String(error)}`;
    return encodeFrame({ t: 'error', type: 'NotJson', message, trace: '', explained: 'wholly' });
  }
}
