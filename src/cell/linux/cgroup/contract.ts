/**
 * Control groups as a cell uses them: one group per cell, with the same interface for v1 and v2.
 *
 * @module
 */

export interface CgroupLimits {
  /** Bytes, including swap if the kernel can count it. */
  memory: number;
  pids?: number;
  /** False: when the kernel kills a process for lack of memory, the others of the group survive. */
  killTogether?: boolean;
}

/**
 * The group of one cell. `remove` and `attach` are asynchronous because the kernel takes up to ten milliseconds to move a
 * process, even on an idle machine. The others are synchronous and take well under a millisecond.
 */
export interface Cgroup {
  /** Moves a process in. Children it already has stay outside; children it starts later are inside. */
  attach(pid: number): Promise<void>;
  /** The processes inside that are visible in our pid namespace. */
  members(): number[];
  /** Read it before `remove`. It excludes memory that a process had before it was attached. */
  usage(): { cpuMs: number; memoryPeakBytes: number };
  /** Limits TCP buffers in a group that another program created with this much memory; absent if memory includes them. */
  limitTcp?(memory: number): void;
  /** Whether the kernel killed a process here because it hit the memory limit. */
  oomKilled(): boolean;
  /** Kills everything inside. */
  kill(): void;
  /**
   * Resets the counters, so that the group can serve another cell. False if it is not as good as new: it has members, a
   * process was killed for lack of memory, or much memory is still charged. Absent where counters cannot be reset.
   */
  renew?(): boolean;
  /** Removes the group, with retries because dying processes keep it busy for a moment. False if it still exists. */
  remove(): Promise<boolean>;
}

/** The control groups that we may use on this machine. */
export interface CgroupDriver {
  readonly version: 1 | 2;
  /** Version and controllers, for `doctor`. */
  readonly describe: string;
  /** False: `create` refuses a `pids` limit. */
  readonly limitsPids: boolean;
  /** False: the CPU time of exited processes is not counted. */
  readonly countsCpu: boolean;
  /** Parents of our groups, one directory per hierarchy; created when first needed. */
  readonly directories: readonly string[];
  create(name: string, limits: CgroupLimits): Cgroup;
  /** The same without blocking the event loop. */
  createAsync(name: string, limits: CgroupLimits): Promise<Cgroup>;
  /** Removes leftovers of dead runtimes; returns the removed directories. */
  sweepStale(): string[];
  /** Removes our own directories. False if a group is still in them. */
  close(): Promise<boolean>;
}
