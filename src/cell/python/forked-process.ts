/**
 * A cell that a zygote forked, seen from the host.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, ProcessUsage } from '../contract.ts';
import type { Cgroup } from '../jail/cgroup/cgroup.ts';
import { Meter } from '../jail/meter.ts';
import { startWatchdog } from '../jail/watchdog.ts';

/**
 * How long a zygote may take to end a child before it is ended with all of them. It does so at once, unless the machine
 * is overloaded: then the other children must not pay for it.
 */
const ZYGOTE_GRACE_MS = 3000;

export interface ForkedProcessOptions {
  channel: Socket;
  log: Socket;
  grant: Grant;
  /** The host's pids of the zygote and its children. */
  siblings: () => number[];
  /** The group that the child was born in, if it has one to itself. */
  adopt: (pid: number) => Cgroup | undefined;
  makeCgroup: () => Promise<Cgroup | undefined>;
  /** Asks the zygote to end this child. */
  end: () => void;
  /** Ends the zygote and with it every child. */
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
  #attached: Promise<void> | undefined;
  #hasExited = false;
  #stopWatchdog: () => void = () => undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(options: ForkedProcessOptions) {
    this.#options = options;
    this.channel = options.channel;
    this.logs = [options.log];
    this.exited = new Promise((resolve) => (this.#settleExit = resolve));
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  /** Called with the zygote's word that the child is there, long before the child itself is ready. */
  onForked(pid: unknown): void {
    if (this.#attached) return;
    const { siblings, adopt } = this.#options;
    const hostPid = siblings().find((candidate) => pidInside(candidate) === pid);
    if (hostPid === undefined) return;
    const born = adopt(hostPid);
    if (born) this.#liveIn(born, hostPid);
    this.#attached = born ? Promise.resolve() : this.#move(hostPid);
    // Told to whoever waits for it in confine().
    this.#attached.catch(() => undefined);
  }

  #liveIn(cgroup: Cgroup | undefined, hostPid: number): void {
    this.#cgroup = cgroup;
    this.#meter = new Meter(hostPid, cgroup);
  }

  async #move(hostPid: number): Promise<void> {
    const cgroup = await this.#options.makeCgroup();
    if (this.#hasExited) {
      await cgroup?.remove();
      return;
    }
    this.#liveIn(cgroup, hostPid);
    await cgroup?.attach(hostPid);
  }

  async confine(ready: Record<string, unknown>): Promise<boolean> {
    this.onForked(ready['pid']);
    const { grant } = this.#options;
    await this.#attached;
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
    this.#options.end();
    // Timers come before input: in a host that was busy for a while, the zygote's word may be there, unread.
    this.#grace = setTimeout(() => setImmediate(() => this.#endAllUnlessExited()), ZYGOTE_GRACE_MS);
  }

  #endAllUnlessExited(): void {
    if (!this.#hasExited) this.#options.endAll();
  }

  usage(): ProcessUsage {
    return this.#meter?.read() ?? { cpuMs: 0, memoryPeakBytes: 0 };
  }

  /** Called with the zygote's word that the child and its namespace are gone. */
  onExit(exit: ExitInfo): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    const { grant, channel, log } = this.#options;
    const ownEnd = this.#meter?.stop(exit, grant.limits.cpu);
    this.#killReason ??= ownEnd;
    unattended(this.#cgroup?.remove());
    channel.end();
    log.end();
    this.#settleExit(exit);
  }
}

/** The pid that the zygote's namespace gave to a process of ours. */
function pidInside(hostPid: number): number | undefined {
  try {
    const line = /^NSpid:\s*(.+)$/m.exec(readFileSync(`/proc/${hostPid}/status`, 'utf8'))?.[1];
    return line === undefined ? undefined : Number(line.split(/\s+/)[1]);
  } catch {
    return undefined;
  }
}
