/**
 * Whose fault it is: an exception that nobody caught belongs to the call or the cell in whose asynchronous context it was
 * thrown, so that this one can be ended and all others go on. A cell that is started ahead has a context of its own, because
 * the call that happened to start it is not the one that it serves.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SkillError, toSkillError } from './errors.ts';

export interface FaultOwner {
  readonly kind: 'call' | 'cell';
  /** Ends it, as far as it has not ended. Must not throw. */
  fail(error: SkillError): void;
}

/** Who was ended because of a fault; `none` when it belongs to nobody that is known. */
export type Blamed = FaultOwner['kind'] | 'none';

const owners = new AsyncLocalStorage<FaultOwner | undefined>();

/** Faults of this work, and of all that it starts, are those of `owner`. */
export function ownedBy<T>(owner: FaultOwner, work: () => T): T {
  return owners.run(owner, work);
}

/** For what a call starts and others use as well. */
export function ownedByNobody<T>(work: () => T): T {
  return owners.run(undefined, work);
}

/** Faults while a cell is made, and of all that is made with it, are those of the cell. */
export function owningItself<T extends FaultOwner>(make: () => T): T {
  let made: T | undefined;
  const owner: FaultOwner = { kind: 'cell', fail: (error) => made?.fail(error) };
  return owners.run(owner, () => (made = make()));
}

/** The same for a cell that takes its time to be made. */
export function owningItselfSoon<T extends FaultOwner>(make: () => Promise<T>): Promise<T> {
  let made: T | undefined;
  const owner: FaultOwner = { kind: 'cell', fail: (error) => made?.fail(error) };
  return owners.run(owner, async () => (made = await make()));
}

/**
 * Ends the call or cell that a fault happened in, and says which of both it was. For handlers of `uncaughtException` and
 * `unhandledRejection`, which Node calls in the context of the fault.
 */
export function failOwner(thrown: unknown): Blamed {
  const owner = owners.getStore();
  // Node leaves the context of a fault in force, and what comes next may have none of its own.
  owners.enterWith(undefined);
  owner?.fail(asInternal(thrown));
  return owner?.kind ?? 'none';
}

/** Whatever was thrown where nobody expected it is a fault of ours. */
export function asInternal(thrown: unknown): SkillError {
  const error = toSkillError(thrown);
  if (error.code === 'internal') return error;
  return new SkillError('internal', `Skillcell failed unexpectedly: ${error.message}`, {
    fix: 'Please report this with the output of `skillcell doctor`.',
    cause: thrown,
  });
}
