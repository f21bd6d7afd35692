/**
 * The host's view of a cell that a zygote forked.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../../contract.ts';
import type { Cgroup } from '../../linux/cgroup/cgroup.ts';
import { Meter } from '../../linux/meter.ts';
import { startWatchdog } from '../../linux/watchdog.ts';
import type { NewChild } from './fork-cgroup.ts';

/**
 * How long a zygote may take to kill a child before the zygote itself is killed with all its children. Normally it kills
 * the child immediately; the long grace period protects the other children on an overloaded machine.
 */
const ZYGOTE_GRACE_MS = 3000;

/** Only its host can see the zygote, so the skill cannot have ended it. */
const LOST: LaunchFault = {
  code: 'internal',
  message: 'The sandbox was killed from outside: the process that it was forked from has ended',
  fix: 'Call the skill again. If this repeats, check the kernel log for the out-of-memory killer.',
};

export interface ForkedProcessOptions {
  channel: Socket;
  log: Socket;
  grant: Grant;
  /** Finds the child among the new ones of its zygote. */
  find: (isChild: (pid: number) => boolean) => NewChild | undefined;
  makeCgroup: () => Promise<Cgroup | undefined>;
  /** Asks the zygote to kill this child. */
  end: () => void;
  /** Kills the zygote and all its children. */
  endAll: () => void;
}

export class ForkedProcess implements CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  readonly #options: ForkedProcessOptions;
  #settleExit!: (exit: ExitInfo) => void;
  #killReason: KillReason | undefined;
  #cgroup: Cgroup | undefined;
  #meter: Meter | undefined;
  /** Resolves once the zygote has said which process it is, and that process is in its cgroup. */
  readonly #attached = Promise.withResolvers<void>();
  #isKnown = false;
  /** Its pid in the zygote's namespace. */
  #reported: unknown;
  #hasExited = false;
  #isLost = false;
  #stopWatchdog: () => void = () => undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(options: ForkedProcessOptions) {
    this.#options = options;
    this.channel = options.channel;
    this.logs = [options.log];
    this.exited = new Promise((resolve) => (this.#settleExit = resolve));
    // A failure is reported through confine().
    this.#attached.promise.catch(() => undefined);
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  /** Called when the zygote reports the fork, often before the child itself is ready. */
  onForked(pid: unknown): void {
    if (this.#reported === undefined && this.#killReason) this.#options.end();
    this.#reported = pid;
    if (this.#isKnown) return;
    const found = this.#options.find((candidate) => pidInside(candidate) === pid);
    if (found === undefined) return;
    this.#isKnown = true;
    const { pid: hostPid, cgroup } = found;
    if (cgroup) this.#useCgroup(cgroup, hostPid);
    const attached = cgroup ? Promise.resolve() : this.#move(hostPid);
    attached.then(this.#attached.resolve, this.#attached.reject);
  }

  #useCgroup(cgroup: Cgroup | undefined, hostPid: number): void {
    this.#cgroup = cgroup;
    this.#meter = new Meter(hostPid, cgroup);
  }

  async #move(hostPid: number): Promise<void> {
    const cgroup = await this.#options.makeCgroup();
    if (this.#hasExited) {
      await cgroup?.remove();
      return;
    }
    this.#useCgroup(cgroup, hostPid);
    await cgroup?.attach(hostPid);
  }

  async confine(): Promise<boolean> {
    const { grant } = this.#options;
    if (this.#reported !== undefined) this.onForked(this.#reported);
    if (this.#reported === undefined || this.#isKnown) await this.#attached.promise;
    const meter = this.#meter;
    if (!meter || this.#hasExited) return false;
    this.#stopWatchdog = startWatchdog({
      exceeded: () => meter.exceeded(grant.limits),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited || this.#grace) return;
    // A zygote that has not forked it yet could not kill it, and would fork it afterwards.
    if (this.#reported !== undefined) this.#options.end();
    // Timers run before I/O: in a host that was busy, the zygote's report may have arrived but not been read.
    this.#grace = setTimeout(() => setImmediate(() => this.#endAllUnlessExited()), ZYGOTE_GRACE_MS);
  }

  #endAllUnlessExited(): void {
    if (!this.#hasExited) this.#options.endAll();
  }

  usage(): ProcessUsage {
    return this.#meter?.read() ?? { cpuMs: 0, memoryPeakBytes: 0 };
  }

  /** Called when the zygote reports that the child and its namespaces are gone. */
  onExit(exit: ExitInfo): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    this.#attached.resolve();
    const { grant, channel, log } = this.#options;
    // Of a cell that is done, everything has been read. Its cgroup may soon belong to another.
    if (this.#killReason === 'done') this.#meter?.freeze();
    else this.#killReason ??= this.#meter?.stop(exit, grant.limits.cpu);
    unattended(this.#cgroup?.remove());
    channel.end();
    log.end();
    this.#settleExit(exit);
  }

  /** Called when the zygote has ended, and this process with it. */
  onLost(): void {
    this.#isLost = !this.#hasExited;
    this.onExit({ code: null, signal: 'SIGKILL' });
  }

  fault(): LaunchFault | undefined {
    return this.#isLost && this.#killReason === undefined ? LOST : undefined;
  }
}

/** The pid of a process inside the zygote's namespace. */
function pidInside(hostPid: number): number | undefined {
  try {
    const line = /^NSpid:\s*(.+)$/m.exec(readFileSync(`/proc/${hostPid}/status`, 'utf8'))?.[1];
    return line === undefined ? undefined : Number(line.split(/\s+/)[1]);
  } catch {
    return undefined;
  }
}
