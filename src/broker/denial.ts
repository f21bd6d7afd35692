/**
 * A refusal that the skill's author should hear of, with what was asked for.
 *
 * @module
 */
import { BrokerRefusal } from '../cell/contract.ts';
import type { CapabilityEvent } from '../outcome.ts';

export class Denial extends BrokerRefusal {
  readonly event: CapabilityEvent;

  constructor(event: CapabilityEvent) {
    super('denied', event.declared);
    this.event = event;
  }
}
