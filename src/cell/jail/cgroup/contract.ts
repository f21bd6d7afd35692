/**
 * Control groups as a cell uses them: one group per cell, with the same face for v1 and v2.
 *
 * @module
 */

export interface CgroupLimits {
  /** Bytes, swap included where the kernel can tell. */
  memory: number;
  pids?: number;
  /** False: a process that the kernel ends for want of memory does not take the others of the group along. */
  endTogether?: boolean;
}

/**
 * One group around one cell. `remove` and `attach` are asynchronous: moving a process waits for the kernel, up to ten
 * milliseconds on an idle machine. All others are synchronous and take well under a millisecond.
 */
export interface Cgroup {
  /** Moves a process in. Children it already has stay outside; children it starts later are inside. */
  attach(pid: number): Promise<void>;
  /** The processes inside, without those that are invisible from here. */
  members(): number[];
  /** Read it before `remove`. Memory that a process had before it was attached is not in it. */
  usage(): { cpuMs: number; memoryPeakBytes: number };
  /** Bounds the buffers of TCP of a group that somebody else made with this much memory; absent where memory counts them. */
  limitTcp?(memory: number): void;
  /** Did the kernel kill a process here because the memory limit was hit? */
  oomKilled(): boolean;
  /** Kills everything inside. */
  kill(): void;
  /** Removes the group. Dying processes hold it for a moment, so it tries for a while; false: it is still there. */
  remove(): Promise<boolean>;
}

/** The control groups of this machine, as far as they are ours to use. */
export interface CgroupDriver {
  readonly version: 1 | 2;
  /** Version and controllers, for `doctor`. */
  readonly describe: string;
  /** False: `create` refuses a `pids` limit. */
  readonly limitsPids: boolean;
  /** False: nobody counts the CPU time of processes that have ended. */
  readonly countsCpu: boolean;
  /** Where our groups live, one directory per hierarchy; made when first needed. */
  readonly directories: readonly string[];
  create(name: string, limits: CgroupLimits): Cgroup;
  /** The same without waiting for the kernel on the way. */
  createSoon(name: string, limits: CgroupLimits): Promise<Cgroup>;
  /** Removes what runtimes that are dead have left behind; returns the directories that went. */
  sweepStale(): string[];
  /** Removes our own directories. False: a group is still in them. */
  close(): Promise<boolean>;
}
