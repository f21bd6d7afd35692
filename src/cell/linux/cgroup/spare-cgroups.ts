/**
 * Groups of earlier forks, used again for the next ones: creating and removing a group takes the kernel a large part of a
 * millisecond. Only a group that is as good as new is lent: empty, its counters reset, and with hardly any memory charged.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import type { Cgroup, CgroupLimits } from './contract.ts';

/** More than the calls that usually run at once; further groups are removed. */
const MAX_SPARE = 16;

interface Spare {
  group: Cgroup;
  /** Its limits. */
  key: string;
}

export class SpareCgroups {
  readonly #make: (limits: CgroupLimits) => Promise<Cgroup>;
  /** The group that has been idle for longest is first: nothing in it is still dying. */
  #spare: Spare[] = [];
  #closed = false;

  constructor(make: (limits: CgroupLimits) => Promise<Cgroup>) {
    this.#make = make;
  }

  /** A group with these limits. Its `remove` keeps it for a later cell, if its counters can be reset. */
  async take(limits: CgroupLimits): Promise<Cgroup> {
    const key = JSON.stringify(limits);
    for (let group = this.#pop(key); group; group = this.#pop(key)) {
      if (group.renew?.() === true) return this.#lend(group, key);
      unattended(group.remove());
    }
    return this.#lend(await this.#make(limits), key);
  }

  /** Removes all groups that are not in use. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#spare.splice(0).map(({ group }) => group.remove()));
  }

  #pop(key: string): Cgroup | undefined {
    const at = this.#spare.findIndex((spare) => spare.key === key);
    return at < 0 ? undefined : this.#spare.splice(at, 1)[0]?.group;
  }

  #lend(group: Cgroup, key: string): Cgroup {
    let isKilled = false;
    const kill = (): void => {
      isKilled = true;
      group.kill();
    };
    const remove = async (): Promise<boolean> => {
      if (isKilled || this.#closed || group.renew === undefined) return group.remove();
      this.#spare.push({ group, key });
      const surplus = this.#spare.length > MAX_SPARE ? this.#spare.shift() : undefined;
      return surplus === undefined || surplus.group.remove();
    };
    return { ...group, kill, remove };
  }
}
