/**
 * The handles of a component instance. A handle is an index that the guest may forge, keep too long or use with the
 * wrong type, so every use is checked against the table.
 *
 * @module
 */

import { GuestEnd, type HostResource } from '../contract.ts';

/** Compared by identity: two resources with the same name are different types. */
export interface ResourceType {
  name: string;
  /** Number of the component instance that defines it; `undefined` for the host. */
  owner: number | undefined;
}

/** A resource defined by a component, while it is passed from one component instance to another. */
export class GuestResource {
  readonly type: ResourceType;
  readonly rep: number;

  constructor(type: ResourceType, rep: number) {
    this.type = type;
    this.rep = rep;
  }
}

/** One call between components: lent handles return at its end, and borrowed handles must be dropped by then. */
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
  /** The host's object, or the representation chosen by the defining component. */
  readonly rep: HostResource | number;
  /** For a borrowed handle, the call it was borrowed for. */
  readonly borrowedFor: CallScope | undefined;
  lends: number;
}

/** Handle count shared by all tables of a call. */
export interface HandleQuota {
  held: number;
  readonly limit: number;
}

export class HandleTable {
  // Index 0 is never used, so a guest that forgot to set a handle traps.
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
    if (handle.type !== type) throw new GuestEnd('trap', `Handle ${index} is not a "${type.name}"`);
    return handle;
  }

  /** Removes an owned handle, to transfer the resource. */
  takeOwn(index: number, type: ResourceType): HostResource | number {
    const handle = this.get(index, type);
    if (handle.borrowedFor !== undefined) throw new GuestEnd('trap', `Handle ${index} is only borrowed`);
    return this.#remove(index, handle).rep;
  }

  /** Borrows a handle for the duration of `scope`, which may be absent if nothing can be dropped during the call. */
  lend(index: number, type: ResourceType, scope?: CallScope): HostResource | number {
    const handle = this.get(index, type);
    if (scope !== undefined) {
      handle.lends += 1;
      scope.lent.push(handle);
    }
    return handle.rep;
  }

  /** Returns the resource if the guest owned it and it must be destroyed now. */
  drop(index: number, type: ResourceType): HostResource | number | undefined {
    const handle = this.#remove(index, this.get(index, type));
    if (handle.borrowedFor === undefined) return handle.rep;
    handle.borrowedFor.borrows -= 1;
    return undefined;
  }

  /**
   * Called at the end of a call, however it ended: drops what the guest still owns, newest first.
   * A failure does not keep the others from being dropped; the first one is thrown at the end.
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
