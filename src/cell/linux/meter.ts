/**
 * Measures the usage of a cell: from its cgroup if it has one, otherwise summed over its processes.
 *
 * @module
 */
import type { GrantedLimits } from '../../policy/grant.ts';
import type { ExitInfo, KillReason, ProcessUsage } from '../contract.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { measureTree } from './memory-watch.ts';

/** For RLIMIT_CPU the kernel counts whole ticks, so it may kill at a limit that is far off by our count. */
const CPU_CERTAINTY = 0.5;

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

  /**
   * The limit that was hit, if any. With a cgroup the kernel enforces the memory limit, but it may have killed only one
   * process of many, and then the rest of the cell has to be killed too.
   */
  exceeded(limits: GrantedLimits): 'memory' | 'cpu' | undefined {
    const { cpuMs, memoryPeakBytes } = this.read();
    const outOfMemory = this.#cgroup ? this.#cgroup.oomKilled() : memoryPeakBytes > limits.memory;
    if (outOfMemory) return 'memory';
    return cpuMs > limits.cpu ? 'cpu' : undefined;
  }

  /** Takes the last reading. Returns the limit for which the kernel killed the cell, if it did. */
  stop(exit: ExitInfo, cpuLimitMs: number): KillReason | undefined {
    if (this.#cgroup) this.read();
    this.#stopped = true;
    const wasKilled = exit.signal === 'SIGKILL' || exit.code === 137;
    if (this.#cgroup?.oomKilled()) return 'memory';
    return wasKilled && this.#last.cpuMs >= cpuLimitMs * CPU_CERTAINTY ? 'cpu' : undefined;
  }

  /** Keeps the last reading. */
  freeze(): void {
    this.#stopped = true;
  }

  #addUp(knownPeak: number): ProcessUsage {
    const { cpuMs, rssBytes } = measureTree(this.#rootPid);
    // Exited processes are no longer measured, but their usage still counts.
    return {
      cpuMs: Math.max(cpuMs, this.#last.cpuMs),
      memoryPeakBytes: Math.max(knownPeak, rssBytes, this.#last.memoryPeakBytes),
    };
  }
}
