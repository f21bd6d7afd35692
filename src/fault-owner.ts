/**
 * Maps an uncaught exception to the call or cell in whose asynchronous context it was thrown, so that only that one ends.
 * A cell that is started ahead has its own context, because the call that starts it is not the call that it serves.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SkillError, toSkillError } from './errors.ts';

export interface FaultOwner {
  readonly kind: 'call' | 'cell';
  /** Ends it unless it has ended. Must not throw. */
  fail(error: SkillError): void;
}

/** What a fault ended; `none` when it has no owner. */
export type FaultScope = FaultOwner['kind'] | 'none';

const owners = new AsyncLocalStorage<FaultOwner | undefined>();

/** Runs work whose faults, and those of everything it starts, belong to `owner`. */
export function ownedBy<T>(owner: FaultOwner, work: () => T): T {
  return owners.run(owner, work);
}

/** Runs work that one call starts and others share. */
export function withoutFaultOwner<T>(work: () => T): T {
  return owners.run(undefined, work);
}

/** Makes a cell that owns its faults, including those during its creation. */
export function createFaultOwner<T extends FaultOwner>(make: () => T): T {
  let owned: T | undefined;
  const owner: FaultOwner = { kind: 'cell', fail: (error) => owned?.fail(error) };
  return owners.run(owner, () => (owned = make()));
}

/** The same for a cell that is created asynchronously. */
export function createFaultOwnerAsync<T extends FaultOwner>(make: () => Promise<T>): Promise<T> {
  let owned: T | undefined;
  const owner: FaultOwner = { kind: 'cell', fail: (error) => owned?.fail(error) };
  return owners.run(owner, async () => (owned = await make()));
}

/**
 * Ends the call or cell that a fault happened in, and returns which of the two it was. For handlers of
 * `uncaughtException` and `unhandledRejection`, which Node calls in the context of the fault.
 */
export function failOwner(thrown: unknown): FaultScope {
  const owner = owners.getStore();
  // Node keeps the context of the fault active, and later work without a context would inherit it.
  owners.enterWith(undefined);
  owner?.fail(toInternalError(thrown));
  return owner?.kind ?? 'none';
}

/** An exception that reached a fault handler is an internal error, whatever its code. */
export function toInternalError(thrown: unknown): SkillError {
  const error = toSkillError(thrown);
  if (error.code === 'internal') return error;
  return new SkillError('internal', `Skillcell failed unexpectedly: ${error.message}`, {
    fix: 'Please report this with the output of `skillcell doctor`.',
    cause: thrown,
  });
}
