/**
 * Requests of one call's guest to the broker. Running requests and unread answers are bounded: a cell that asks faster
 * than it reads has to wait, instead of filling the host's memory with answers.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import type { Duplex } from 'node:stream';
import type { AskFields, FrameOf, ToReusable, Unchecked } from '../../../guest/protocol.ts';
import { BrokerRefusal, type BrokerRequest, type CallBroker } from '../contract.ts';
import { encodeFrame, type GuestFrame } from './frames.ts';

const MAX_RUNNING = 64;
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** If more frames or bytes than this are waiting, nothing more is read from the cell. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

type Reply = Extract<FrameOf<ToReusable>, { t: 'reply' }>;

export class HostCalls {
  readonly #broker: CallBroker;
  readonly #channel: Duplex;
  readonly #waiting: GuestFrame[] = [];
  readonly #resumeWork = (): void => this.#work();
  #waitingBytes = 0;
  #running = 0;
  #count = 0;
  #hasEnded = false;

  constructor(broker: CallBroker, channel: Duplex) {
    this.#broker = broker;
    this.#channel = channel;
  }

  /** Number of requests so far. */
  get count(): number {
    return this.#count;
  }

  ask(frame: GuestFrame): void {
    this.#count++;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    this.#work();
  }

  /** Ends the call: drops waiting requests and sends no more answers. */
  end(): void {
    this.#hasEnded = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#broker.close();
    this.#channel.off('drain', this.#resumeWork);
    this.#channel.resume();
  }

  #work(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#begin(this.#next());
    const isFull = this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isFull) this.#channel.pause();
    else if (this.#channel.isPaused()) this.#channel.resume();
  }

  #next(): GuestFrame | undefined {
    const frame = this.#waiting.shift();
    this.#waitingBytes -= frame?.bytes ?? 0;
    return frame;
  }

  #hasRoom(): boolean {
    if (this.#channel.writableLength > MAX_UNREAD_BYTES) {
      this.#channel.off('drain', this.#resumeWork).once('drain', this.#resumeWork);
      return false;
    }
    return this.#running < MAX_RUNNING;
  }

  /** If the host itself fails, closes the channel and thereby ends the call, so that the guest does not wait forever. */
  #begin(frame: GuestFrame | undefined): void {
    unattended(this.#serve(frame), () => this.#channel.destroy());
  }

  async #serve(frame: GuestFrame | undefined): Promise<void> {
    if (!frame) return;
    this.#running++;
    const answer = await this.#answer(frame);
    this.#running--;
    if (this.#hasEnded) return;
    if (this.#channel.writable) this.#channel.write(answer);
    this.#work();
  }

  async #answer(frame: GuestFrame): Promise<Buffer> {
    const reply = { t: 'reply', id: frame.body['id'] } as const;
    try {
      const { value, payload } = await this.#broker.handle(requestOf(frame.body, frame.payload));
      return encodeFrame({ ...reply, value } satisfies Reply, payload);
    } catch (error) {
      const code = error instanceof BrokerRefusal ? error.code : 'io';
      return encodeFrame({ ...reply, code } satisfies Reply);
    }
  }
}

function requestOf({ op, args }: Unchecked<AskFields>, payload: Buffer | undefined): BrokerRequest {
  return {
    op: typeof op === 'string' ? op : '',
    args: typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {},
    ...(payload ? { payload } : {}),
  };
}
