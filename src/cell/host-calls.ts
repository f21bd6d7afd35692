/**
 * What the guest of one call asks the broker for. Only so much is under way or unread at once: a cell that asks
 * faster than it listens waits, instead of filling the host's memory with answers.
 *
 * @module
 */
import { unattended } from '../errors.ts';
import type { Duplex } from 'node:stream';
import { BrokerRefusal, type BrokerRequest, type CallBroker } from './contract.ts';
import { encodeFrame, type GuestFrame } from './frames.ts';

const MAX_UNDER_WAY = 64;
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** So many frames may wait before nothing more is read from the cell. */
const MAX_WAITING = 256;

export class HostCalls {
  readonly #broker: CallBroker;
  readonly #channel: Duplex;
  readonly #waiting: GuestFrame[] = [];
  readonly #goOn = (): void => this.#work();
  #underWay = 0;
  #count = 0;
  #ended = false;

  constructor(broker: CallBroker, channel: Duplex) {
    this.#broker = broker;
    this.#channel = channel;
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  ask(frame: GuestFrame): void {
    this.#count++;
    this.#waiting.push(frame);
    this.#work();
  }

  /** The call is over: nothing more is done for it, and nobody waits for an answer. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#broker.close();
    this.#channel.off('drain', this.#goOn);
    this.#channel.resume();
  }

  #work(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#begin(this.#waiting.shift());
    if (this.#waiting.length > MAX_WAITING) this.#channel.pause();
    else if (this.#channel.isPaused()) this.#channel.resume();
  }

  #hasRoom(): boolean {
    if (this.#channel.writableLength > MAX_UNREAD_BYTES) {
      this.#channel.off('drain', this.#goOn).once('drain', this.#goOn);
      return false;
    }
    return this.#underWay < MAX_UNDER_WAY;
  }

  /** A fault of ours must not leave the guest waiting for an answer: its channel ends, and the call with it. */
  #begin(frame: GuestFrame | undefined): void {
    unattended(this.#serve(frame), () => this.#channel.destroy());
  }

  async #serve(frame: GuestFrame | undefined): Promise<void> {
    if (!frame) return;
    this.#underWay++;
    const answer = await this.#answer(frame);
    this.#underWay--;
    if (this.#ended) return;
    if (this.#channel.writable) this.#channel.write(answer);
    this.#work();
  }

  async #answer(frame: GuestFrame): Promise<Buffer> {
    const reply = { t: 'reply', id: frame.body['id'] };
    try {
      const { value, payload } = await this.#broker.handle(requestOf(frame));
      return encodeFrame({ ...reply, value }, payload);
    } catch (error) {
      return encodeFrame({ ...reply, code: error instanceof BrokerRefusal ? error.code : 'io' });
    }
  }
}

function requestOf({ body, payload }: GuestFrame): BrokerRequest {
  const { op, args } = body;
  return {
    op: typeof op === 'string' ? op : '',
    args: typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {},
    ...(payload ? { payload } : {}),
  };
}
