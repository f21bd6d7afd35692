/**
 * A container as seen from the host, for any backend. The program is pid 1 inside; when it exits, everything inside does.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../../contract.ts';
import type { Cgroup } from '../../linux/cgroup/cgroup.ts';
import { Meter } from '../../linux/meter.ts';
import { identityInside, type PathIdentity } from '../../linux/path-identity.ts';
import { startWatchdog } from '../../linux/watchdog.ts';
import { startOf } from '../../linux/process-identity.ts';
import { launchFault, notReadyFault, engineLostFault } from './faults.ts';

/** How long an engine may take to start a container, or to notice its exit, before it is killed. */
const GRACE_MS = 3000;
const PID_POLL_MS = 2;
/** Error output of runtimes that created a process but could not execute the program in it. */
const ENGINE_ERROR = /exec container process|runc (?:run|create) failed|OCI runtime/;

/** A container managed by its engine. */
export interface ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  /** Resolves when the engine reports that the container has exited. */
  readonly exited: Promise<ExitInfo>;
  /** Host pid of pid 1 inside, once the engine has reported it. */
  pid(): number | undefined;
  /** The process that has the granted paths open, if that is not pid 1; returns undefined if not found. */
  filesPid?(): number | undefined;
  /** The cgroup of the container; called once the pid is known. */
  cgroup(pid: number): Cgroup | undefined;
  /** Whether the kernel killed it for lack of memory, for engines that remove the cgroup. */
  wasOutOfMemory?(exit: ExitInfo): boolean;
  /** How the engine died, if it died before its container. */
  readonly engineFailure?: string | undefined;
  /** Kills the container, with or without the engine's help. */
  force(): void;
  /** Removes everything left of the container; called once, after its exit. */
  cleanUp(): Promise<unknown>;
}

export interface ContainerProcessOptions {
  run: ContainerRun;
  grant: Grant;
  /** The expected identity of each granted path, by guest path. */
  mounts: Map<string, PathIdentity>;
}

/** Identifies a process uniquely, because its pid may be reused before it is killed. */
interface KnownProcess {
  pid: number;
  started: string | undefined;
  meter: Meter;
  group: Cgroup | undefined;
}

const NOTHING_USED: ProcessUsage = { cpuMs: 0, memoryPeakBytes: 0 };

export class ContainerProcess implements CellProcess {
  readonly exited: Promise<ExitInfo>;
  /** Resolves when the container is cleaned up. */
  readonly gone: Promise<unknown>;
  readonly #options: ContainerProcessOptions;
  #known: KnownProcess | undefined;
  #killReason: KillReason | undefined;
  #grace: NodeJS.Timeout | undefined;
  #hasExited = false;
  #stopWatchdog: () => void = () => undefined;

  constructor(options: ContainerProcessOptions) {
    this.#options = options;
    const { run } = options;
    this.exited = run.exited.then((exit) => this.#onExit(exit));
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
    const known = await this.#waitForIdentity();
    // The mounts of an exited process cannot be checked; without granted paths there is nothing to check.
    if (this.#hasExited) return this.#options.mounts.size === 0;
    if (!known || !this.#mountsAreRight(known.pid)) return false;
    // Engines have no option for TCP buffers; without a gateway there are no sockets.
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
    unattended(this.#waitForIdentity().then(() => this.#killPid1()));
  }

  usage(): ProcessUsage {
    return this.#known?.meter.read() ?? NOTHING_USED;
  }

  fault({ started, logs }: { started: boolean; logs: string }): LaunchFault | undefined {
    const { engineFailure } = this.#options.run;
    const wasOurs = this.#killReason !== undefined && this.#killReason !== 'protocol';
    if (engineFailure !== undefined && !wasOurs) return engineLostFault(engineFailure);
    if (started) return ENGINE_ERROR.test(logs) ? launchFault(logs) : undefined;
    return launchFault(logs) ?? notReadyFault(logs);
  }

  #force(): void {
    if (this.#hasExited) return;
    this.#killPid1();
    this.#options.run.force();
  }

  #killPid1(): void {
    const known = this.#identify();
    if (!known || startOf(known.pid) !== known.started) return;
    try {
      process.kill(known.pid, 'SIGKILL');
    } catch (error) {
      // ESRCH: it has just exited. EPERM: a rootless engine runs it as another user.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') this.#options.run.force();
    }
  }

  /** An engine may report the pid shortly after the program has started to send frames. */
  async #waitForIdentity(): Promise<KnownProcess | undefined> {
    for (let waited = 0; waited < GRACE_MS && !this.#hasExited; waited += PID_POLL_MS) {
      const known = this.#identify();
      if (known) return known;
      await sleep(PID_POLL_MS);
    }
    return undefined;
  }

  #identify(): KnownProcess | undefined {
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
    // Without its engine nothing else would kill the container.
    if (this.#options.run.engineFailure !== undefined) this.#killPid1();
    this.#hasExited = true;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    const { run, grant } = this.#options;
    const limitHit = this.#known?.meter.stop(exit, grant.limits.cpu);
    this.#killReason ??= limitHit ?? (run.wasOutOfMemory?.(exit) ? 'memory' : undefined);
    return exit;
  }
}
