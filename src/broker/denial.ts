/**
 * A refusal that is reported to the skill's author, with the attempted act.
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
