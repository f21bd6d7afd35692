/**
 * Requests to the broker over the channel: numbered, answered in any order.
 *
 * @module
 */
import { BrokerError, type BrokerAnswer, type BrokerClient } from '../wasi/broker-client.ts';
import type { ToReusable } from '../../protocol.ts';
import type { Channel } from './channel.ts';

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

  onReply(reply: ToReusable['reply'], payload: Uint8Array): void {
    const id = Number(reply.id);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!waiting) return;
    if ('code' in reply) waiting.reject(new BrokerError(reply.code));
    else waiting.resolve({ value: reply.value, bytes: payload });
  }

  /** Called when the call has ended; drops pending requests. */
  forget(): void {
    this.#waiting.clear();
  }
}
