/**
 * Moving a process into a cgroup takes the kernel up to ten milliseconds on an idle machine. So the zygote itself is
 * moved ahead, while nobody waits: what it forks is then born inside the group of its own, and the zygote moves on.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import type { Cgroup } from '../jail/cgroup/cgroup.ts';

export interface BirthGroupOptions {
  makeCgroup: () => Promise<Cgroup | undefined>;
  zygotePid: () => number | undefined;
}

export class BirthGroup {
  readonly #options: BirthGroupOptions;
  /** Where the zygote is, or is moving to; nobody has been born there who is known. */
  #next: Cgroup | undefined;
  /** Where it was last: a child that was forked before the move is there. */
  #last: Cgroup | undefined;
  #isThere = false;
  #isMoving = false;
  #closed = false;

  constructor(options: BirthGroupOptions) {
    this.#options = options;
  }

  /** Moves the zygote into a new group. */
  async prepare(): Promise<void> {
    const pid = this.#options.zygotePid();
    if (this.#next || this.#isMoving || this.#closed || pid === undefined) return;
    this.#isMoving = true;
    this.#isThere = false;
    try {
      this.#next = await this.#options.makeCgroup();
      await this.#next?.attach(pid);
      this.#isThere = this.#next !== undefined;
    } catch {
      // Children are moved one by one then.
    }
    this.#isMoving = false;
    if (this.#closed) this.close();
  }

  /** The pids that may be those of new children. */
  members(): number[] {
    return [...(this.#next?.members() ?? []), ...(this.#last?.members() ?? [])];
  }

  /** The group that this child was born in, if it is the first one there; the next child gets another. */
  adopt(pid: number): Cgroup | undefined {
    const group = this.#next;
    if (!group || !this.#isThere || !group.members().includes(pid)) return undefined;
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
