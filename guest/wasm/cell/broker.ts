/**
 * Requests to the broker over the channel: numbered, answered in any order.
 *
 * @module
 */
import { BrokerError, type BrokerAnswer, type BrokerClient } from '../wasi/broker-client.ts';
import type { Channel, Frame } from './channel.ts';

interface Waiting {
  resolve: (answer: BrokerAnswer) => void;
  reject: (error: BrokerError) => void;
}

export class ChannelBroker implements BrokerClient {
  readonly #channel: Channel;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  request(op: string, args: Record<string, unknown>, bytes?: Uint8Array): Promise<BrokerAnswer> {
    const id = this.#next++;
    this.#channel.send({ t: 'ask', id, op, args }, bytes);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  onReply({ body, payload }: Frame): void {
    const waiting = this.#waiting.get(Number(body['id']));
    this.#waiting.delete(Number(body['id']));
    if (!waiting) return;
    if (typeof body['code'] === 'string') waiting.reject(new BrokerError(body['code']));
    else waiting.resolve({ value: body['value'] as Record<string, unknown>, bytes: payload });
  }

  /** The call is over; what it still waits for concerns nobody. */
  forget(): void {
    this.#waiting.clear();
  }
}
