/**
 * Fair queues for the worker threads. A tenant has one turn in each round, however many of its skills wait; within a
 * tenant, its skills take turns.
 *
 * @module
 */
import type { TaskOptions } from './task.ts';

/** The skill and the tenant that a task is queued under. */
export type Parties = Pick<TaskOptions, 'owner' | 'tenant'>;

interface Line<Item> {
  parties: Parties;
  /** The owner itself if the task names no tenant. */
  tenant: string;
  items: Item[];
}

export class Lines<Item> {
  /** By tenant and owner; the first has waited longest. */
  readonly #lines = new Map<string, Line<Item>>();
  /** The round of the last turn of each tenant that has a line. */
  readonly #turns = new Map<string, number>();
  #round = 0;

  add({ owner, tenant }: Parties, item: Item): void {
    const key = keyOf({ owner, tenant });
    const line = this.#lines.get(key);
    if (line) line.items.push(item);
    else
      this.#lines.set(key, {
        parties: { owner, tenant },
        tenant: tenantOf({ owner, tenant }),
        items: [item],
      });
  }

  /** The next item of the tenant whose turn it is, among those that `mayWork` accepts. */
  take(mayWork: (parties: Parties) => boolean): Item | undefined {
    let next: Line<Item> | undefined;
    for (const line of this.#lines.values())
      if ((!next || this.#lastTurn(line) < this.#lastTurn(next)) && mayWork(line.parties)) next = line;
    if (!next) return undefined;
    const item = next.items.shift();
    const key = keyOf(next.parties);
    this.#lines.delete(key);
    if (next.items.length > 0) this.#lines.set(key, next);
    this.#turns.set(next.tenant, ++this.#round);
    this.#forget(next.tenant);
    return item;
  }

  /** Returns false if the item is no longer waiting. */
  remove(parties: Parties, item: Item): boolean {
    const key = keyOf(parties);
    const line = this.#lines.get(key);
    const at = line?.items.indexOf(item) ?? -1;
    if (!line || at === -1) return false;
    line.items.splice(at, 1);
    if (line.items.length === 0) this.#lines.delete(key);
    this.#forget(line.tenant);
    return true;
  }

  /** Removes and returns all waiting items. */
  clear(): Item[] {
    const items = [...this.#lines.values()].flatMap((line) => line.items);
    this.#lines.clear();
    this.#turns.clear();
    return items;
  }

  #lastTurn({ tenant }: Line<Item>): number {
    return this.#turns.get(tenant) ?? 0;
  }

  /** Tenant names are untrusted and unbounded, so only waiting tenants are remembered. */
  #forget(tenant: string): void {
    if (![...this.#lines.values()].some((line) => line.tenant === tenant)) this.#turns.delete(tenant);
  }
}

function tenantOf({ owner, tenant }: Parties): string {
  return tenant === undefined ? `owner ${owner}` : `tenant ${tenant}`;
}

function keyOf(parties: Parties): string {
  return JSON.stringify([tenantOf(parties), parties.owner]);
}
