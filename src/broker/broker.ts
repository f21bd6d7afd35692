/**
 * The broker: the only holder of authority. A cell asks, and the broker acts as far as the grant of the call goes.
 *
 * @module
 */
import { BrokerRefusal, type BrokerReply, type BrokerRequest, type CallBroker } from '../cell/contract.ts';
import type { Bundle } from '../load/bundle.ts';
import type { CapabilityEvent } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { FileBroker } from './files.ts';
import { HttpBroker } from './http.ts';

/** Opens the broker of one call. */
export function openBroker(grant: Grant, bundle: Bundle): CallBroker {
  return new Broker(grant, bundle);
}

class Broker implements CallBroker {
  readonly used: CapabilityEvent[] = [];
  readonly denied: CapabilityEvent[] = [];
  readonly #files: FileBroker;
  readonly #http: HttpBroker;

  constructor(grant: Grant, bundle: Bundle) {
    const record = { used: this.used, denied: this.denied };
    this.#files = new FileBroker(grant, bundle, record);
    this.#http = new HttpBroker(grant, record);
  }

  async handle(request: BrokerRequest): Promise<BrokerReply> {
    const reply = this.#files.handle(request) ?? (await this.#http.handle(request));
    if (reply) return reply;
    throw new BrokerRefusal('nosys', `The broker knows no request "${request.op.slice(0, 40)}"`);
  }

  close(): void {
    this.#files.close();
    this.#http.close();
  }
}
