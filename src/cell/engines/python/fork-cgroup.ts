/**
 * The cgroup that new forks start in. Moving a process into a cgroup takes up to ten milliseconds even on an idle
 * machine, so the zygote itself moves into a new cgroup before it forks. The fork starts there, and the zygote moves on.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import type { Cgroup } from '../../linux/cgroup/cgroup.ts';

export interface ForkCgroupOptions {
  makeCgroup: () => Promise<Cgroup | undefined>;
  zygotePid: () => number | undefined;
}

/** `cgroup` is set if the child has it to itself. */
export interface NewChild {
  pid: number;
  cgroup?: Cgroup | undefined;
}

export class ForkCgroup {
  readonly #options: ForkCgroupOptions;
  /** Where the zygote is or is moving to; no known fork is in it yet. */
  #next: Cgroup | undefined;
  /** Where the zygote was before: a child that was forked before the move is there. */
  #last: Cgroup | undefined;
  #hasMoved = false;
  #isMoving = false;
  #closed = false;

  constructor(options: ForkCgroupOptions) {
    this.#options = options;
  }

  /** Moves the zygote into a new group. */
  async prepare(): Promise<void> {
    const pid = this.#options.zygotePid();
    if (this.#next || this.#isMoving || this.#closed || pid === undefined) return;
    this.#isMoving = true;
    this.#hasMoved = false;
    try {
      this.#next = await this.#options.makeCgroup();
      await this.#next?.attach(pid);
      this.#hasMoved = this.#next !== undefined;
    } catch {
      // Without the cgroup, each child is moved after its fork.
    }
    this.#isMoving = false;
    if (this.#closed) this.close();
  }

  /**
   * The new child for which this holds, with the cgroup that it started in if it is the first child there; the next child
   * then gets another. Undefined if it is in none of the groups of new children.
   */
  find(isChild: (pid: number) => boolean): NewChild | undefined {
    const zygote = this.#options.zygotePid();
    const childIn = (group: Cgroup | undefined): number | undefined =>
      group?.members().find((pid) => pid !== zygote && isChild(pid));
    const first = childIn(this.#next);
    if (first !== undefined) return { pid: first, cgroup: this.#adopt() };
    const late = childIn(this.#last);
    return late === undefined ? undefined : { pid: late };
  }

  #adopt(): Cgroup | undefined {
    const group = this.#next;
    if (!group || !this.#hasMoved) return undefined;
    this.#last = group;
    this.#next = undefined;
    unattended(this.prepare());
    return group;
  }

  close(): void {
    this.#closed = true;
    unattended(this.#next?.remove());
    this.#next = undefined;
  }
}
