/**
 * What a component instance holds handles of. A handle is an index that the guest may forge, keep too long or use for
 * another type: every use is checked against the entry.
 *
 * @module
 */

import { GuestEnd, type HostResource } from '../contract.ts';

/** Compared by identity: two resources of the same name are two types. */
export interface ResourceType {
  name: string;
  /** Number of the component instance that defines it; `undefined`: the host. */
  owner: number | undefined;
}

/** A resource that a component defined, on its way from one component instance to another. */
export class GuestResource {
  readonly type: ResourceType;
  readonly rep: number;

  constructor(type: ResourceType, rep: number) {
    this.type = type;
    this.rep = rep;
  }
}

/** One call between components: what was lent for it comes back at its end, what was borrowed must be dropped by then. */
export class CallScope {
  readonly lent: Handle[] = [];
  borrows = 0;

  end(): void {
    for (const handle of this.lent) handle.lends -= 1;
    if (this.borrows > 0)
      throw new GuestEnd('trap', 'A borrowed handle was not dropped by the end of the call');
  }
}

export interface Handle {
  readonly type: ResourceType;
  /** The host's object, or the number that the defining component gave. */
  readonly rep: HostResource | number;
  /** For a borrowed handle, the call it was borrowed for. */
  readonly borrowedFor: CallScope | undefined;
  lends: number;
}

/** One number for all tables of a call. */
export interface HandleQuota {
  held: number;
  readonly limit: number;
}

export class HandleTable {
  // Index 0 is never given out, so that a guest that forgot to fill in a handle meets a trap.
  readonly #handles: (Handle | undefined)[] = [undefined];
  readonly #free: number[] = [];
  readonly #quota: HandleQuota;

  constructor(quota: HandleQuota) {
    this.#quota = quota;
  }

  add(type: ResourceType, rep: HostResource | number, borrowedFor?: CallScope): number {
    if (this.#quota.held >= this.#quota.limit) throw new GuestEnd('limit', 'handles');
    this.#quota.held += 1;
    if (borrowedFor !== undefined) borrowedFor.borrows += 1;
    const index = this.#free.pop() ?? this.#handles.length;
    this.#handles[index] = { type, rep, borrowedFor, lends: 0 };
    return index;
  }

  get(index: number, type: ResourceType): Handle {
    const handle = this.#handles[index];
    if (handle === undefined) throw new GuestEnd('trap', `Unknown handle ${index}`);
    if (handle.type !== type) throw new GuestEnd('trap', `Handle ${index} is no "${type.name}"`);
    return handle;
  }

  /** Takes an owned handle out, to give the resource away. */
  takeOwn(index: number, type: ResourceType): HostResource | number {
    const handle = this.get(index, type);
    if (handle.borrowedFor !== undefined) throw new GuestEnd('trap', `Handle ${index} is only borrowed`);
    return this.#remove(index, handle).rep;
  }

  /** For the length of `scope`, which may be absent when nothing can be dropped meanwhile. */
  lend(index: number, type: ResourceType, scope?: CallScope): HostResource | number {
    const handle = this.get(index, type);
    if (scope !== undefined) {
      handle.lends += 1;
      scope.lent.push(handle);
    }
    return handle.rep;
  }

  /** Returns the resource if it was the guest's own and is to be destroyed now. */
  drop(index: number, type: ResourceType): HostResource | number | undefined {
    const handle = this.#remove(index, this.get(index, type));
    if (handle.borrowedFor === undefined) return handle.rep;
    handle.borrowedFor.borrows -= 1;
    return undefined;
  }

  /**
   * At the end of a call, however it ended: the host gets back what the guest still owns, newest first.
   * One that fails does not keep the others; the first failure is thrown when all are dropped.
   */
  dropHostResources(): void {
    let failure: { error: unknown } | undefined;
    for (let index = this.#handles.length - 1; index > 0; index -= 1) {
      const handle = this.#handles[index];
      this.#handles[index] = undefined;
      if (handle === undefined || handle.borrowedFor !== undefined || handle.type.owner !== undefined)
        continue;
      try {
        dropHostResource(handle.rep);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  #remove(index: number, handle: Handle): Handle {
    if (handle.lends > 0) throw new GuestEnd('trap', `Handle ${index} is lent to a running call`);
    this.#handles[index] = undefined;
    this.#free.push(index);
    this.#quota.held -= 1;
    return handle;
  }
}

export function dropHostResource(rep: HostResource | number | undefined): void {
  if (typeof rep === 'object') rep.drop?.();
}
