/**
 * What a cell has used so far: from its cgroup where there is one, else added up over its processes.
 *
 * @module
 */
import type { ExitInfo, KillReason, ProcessUsage } from '../contract.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { measureTree } from './memory-watch.ts';

export class Meter {
  readonly #cgroup: Cgroup | undefined;
  readonly #rootPid: number;
  #last: ProcessUsage = { cpuMs: 0, memoryPeakBytes: 0 };
  #stopped = false;

  constructor(rootPid: number, cgroup: Cgroup | undefined) {
    this.#rootPid = rootPid;
    this.#cgroup = cgroup;
  }

  read(): ProcessUsage {
    if (this.#stopped) return this.#last;
    const counted = this.#cgroup?.usage();
    this.#last = counted && counted.cpuMs > 0 ? counted : this.#addUp(counted?.memoryPeakBytes ?? 0);
    return this.#last;
  }

  /** The last reading, and what ended the cell when it was not us. */
  stop(exit: ExitInfo, cpuLimitMs: number): KillReason | undefined {
    if (this.#cgroup) this.read();
    this.#stopped = true;
    const wasKilled = exit.signal === 'SIGKILL' || exit.code === 137;
    if (this.#cgroup?.oomKilled()) return 'memory';
    return wasKilled && this.#last.cpuMs >= cpuLimitMs * 0.9 ? 'cpu' : undefined;
  }

  #addUp(knownPeak: number): ProcessUsage {
    const { cpuMs, rssBytes } = measureTree(this.#rootPid);
    // Processes that are gone no longer count, but what they used was used.
    return {
      cpuMs: Math.max(cpuMs, this.#last.cpuMs),
      memoryPeakBytes: Math.max(knownPeak, rssBytes, this.#last.memoryPeakBytes),
    };
  }
}
