/**
 * A container seen from the host, whoever started it: the program is pid 1 inside, and with it ends all the rest.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasGateway, type Grant } from '../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../contract.ts';
import type { Cgroup } from '../jail/cgroup/cgroup.ts';
import { Meter } from '../jail/meter.ts';
import { identityInside, type PathIdentity } from '../jail/path-identity.ts';
import { startWatchdog } from '../jail/watchdog.ts';
import { startOf } from '../process-start.ts';
import { launchFault, neverReady, lostEngine } from './faults.ts';

/** How long an engine may take to start a container, or to notice that it is gone, before force is used. */
const GRACE_MS = 3000;
const PID_POLL_MS = 2;
/** How runtimes begin to tell that a program could not be started that they had a process for already. */
const ENGINE_WORDS = /exec container process|runc (?:run|create) failed|OCI runtime/;

/** A container in the hands of its engine. */
export interface ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  /** Resolves when the engine says that the container has ended. */
  readonly ended: Promise<ExitInfo>;
  /** The host's pid of pid 1 inside, as soon as the engine has told it. */
  pid(): number | undefined;
  /** The process that has the granted paths as its files, where that is not pid 1 itself; undefined: not found. */
  filesPid?(): number | undefined;
  /** The group around it; asked for once the pid is known. */
  cgroup(pid: number): Cgroup | undefined;
  /** Whether the kernel ended it for want of memory, where no group is left to tell. */
  wasOutOfMemory?(exit: ExitInfo): boolean;
  /** What happened to the engine, if it went away before its container. */
  readonly lost?: string | undefined;
  /** Ends it through the engine, or against it. */
  force(): void;
  /** Removes all that is left of it; called once, after its end. */
  cleanUp(): Promise<unknown>;
}

export interface ContainerProcessOptions {
  run: ContainerRun;
  grant: Grant;
  /** What each granted path has to be inside, by guest path. */
  mounts: Map<string, PathIdentity>;
}

/** A process for good: by the time that it is to be ended, its pid may be another's. */
interface Known {
  pid: number;
  started: string | undefined;
  meter: Meter;
  group: Cgroup | undefined;
}

const NOTHING_USED: ProcessUsage = { cpuMs: 0, memoryPeakBytes: 0 };

export class ContainerProcess implements CellProcess {
  readonly exited: Promise<ExitInfo>;
  /** Resolves when nothing of the cell is left. */
  readonly gone: Promise<unknown>;
  readonly #options: ContainerProcessOptions;
  #known: Known | undefined;
  #killReason: KillReason | undefined;
  #grace: NodeJS.Timeout | undefined;
  #hasExited = false;
  #stopWatchdog: () => void = () => undefined;

  constructor(options: ContainerProcessOptions) {
    this.#options = options;
    const { run } = options;
    this.exited = run.ended.then((exit) => this.#onExit(exit));
    this.gone = this.exited.then(() => run.cleanUp());
  }

  get channel(): Duplex {
    return this.#options.run.channel;
  }

  get logs(): Readable[] {
    return this.#options.run.logs;
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  async confine(): Promise<boolean> {
    const { grant } = this.#options;
    const known = await this.#identifySoon();
    // Whatever it was given can no longer be looked at; a program that was given nothing needs no look.
    if (this.#hasExited) return this.#options.mounts.size === 0;
    if (!known || !this.#mountsAreRight(known.pid)) return false;
    // Engines have no word for it; without a gateway there is no socket that could have such a buffer.
    if (hasGateway(grant)) known.group?.limitTcp?.(grant.limits.memory);
    this.#stopWatchdog = startWatchdog({
      exceeded: () => known.meter.exceeded(grant.limits),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited) return;
    this.#grace ??= setTimeout(() => this.#force(), GRACE_MS).unref();
    unattended(this.#identifySoon().then(() => this.#killFirst()));
  }

  usage(): ProcessUsage {
    return this.#known?.meter.read() ?? NOTHING_USED;
  }

  fault({ started, logs }: { started: boolean; logs: string }): LaunchFault | undefined {
    const { lost } = this.#options.run;
    const wasOurs = this.#killReason !== undefined && this.#killReason !== 'protocol';
    if (lost !== undefined && !wasOurs) return lostEngine(lost);
    if (started) return ENGINE_WORDS.test(logs) ? launchFault(logs) : undefined;
    return launchFault(logs) ?? neverReady(logs);
  }

  #force(): void {
    if (this.#hasExited) return;
    this.#killFirst();
    this.#options.run.force();
  }

  #killFirst(): void {
    const known = this.#identify();
    if (!known || startOf(known.pid) !== known.started) return;
    try {
      process.kill(known.pid, 'SIGKILL');
    } catch (error) {
      // ESRCH: it ended by itself a moment ago. EPERM: a rootless engine has given it another user.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') this.#options.run.force();
    }
  }

  /** An engine may tell the pid a moment after the program has begun to speak. */
  async #identifySoon(): Promise<Known | undefined> {
    for (let waited = 0; waited < GRACE_MS && !this.#hasExited; waited += PID_POLL_MS) {
      const known = this.#identify();
      if (known) return known;
      await sleep(PID_POLL_MS);
    }
    return undefined;
  }

  #identify(): Known | undefined {
    const { run } = this.#options;
    const pid = this.#known ? undefined : run.pid();
    if (pid !== undefined && !this.#hasExited) {
      const group = run.cgroup(pid);
      this.#known = { pid, started: startOf(pid), meter: new Meter(pid, group), group };
    }
    return this.#known;
  }

  #mountsAreRight(first: number): boolean {
    const { run, mounts } = this.#options;
    if (mounts.size === 0) return true;
    const pid = run.filesPid ? run.filesPid() : first;
    if (pid === undefined) return false;
    return [...mounts].every(([guest, wanted]) => {
      const found = identityInside(pid, guest);
      return found.dev === wanted.dev && found.ino === wanted.ino;
    });
  }

  #onExit(exit: ExitInfo): ExitInfo {
    // Nobody else ends a container that has lost its engine.
    if (this.#options.run.lost !== undefined) this.#killFirst();
    this.#hasExited = true;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    const { run, grant } = this.#options;
    const ownEnd = this.#known?.meter.stop(exit, grant.limits.cpu);
    this.#killReason ??= ownEnd ?? (run.wasOutOfMemory?.(exit) ? 'memory' : undefined);
    return exit;
  }
}
