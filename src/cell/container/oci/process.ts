/**
 * A container of an OCI runtime, seen from the host: the runtime waits outside, the program is pid 1 inside.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Grant } from '../../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../../contract.ts';
import type { Cgroup } from '../../jail/cgroup/cgroup.ts';
import { childPids } from '../../jail/memory-watch.ts';
import { Meter } from '../../jail/meter.ts';
import { identityInside, type PathIdentity } from '../../jail/path-identity.ts';
import { startWatchdog } from '../../jail/watchdog.ts';
import { launchFault } from '../faults.ts';
import { StdioChannel } from '../stdio-channel.ts';

/** How long a runtime may take to start its container, or to notice that it is gone, before it is ended itself. */
const RUNTIME_GRACE_MS = 2000;
const START_POLL_MS = 2;

export interface OciProcessOptions {
  child: ChildProcess;
  /** True: the program speaks on its standard streams, not in frames. */
  stdio: boolean;
  /** Where the runtime tells the pid of what it started. */
  pidFile: string;
  grant: Grant;
  cgroup: Cgroup | undefined;
  /** What each granted path has to be inside, by guest path. */
  mounts: Map<string, PathIdentity>;
  /** Removes what a runtime leaves that was ended by force, and the folder of the cell. */
  cleanUp: (wasForced: boolean) => Promise<void>;
}

export class OciProcess implements CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  /** Resolves when nothing of the cell is left: no process, no group, no folder. */
  readonly gone: Promise<unknown>;
  readonly #options: OciProcessOptions;
  readonly #meter: Meter;
  #killReason: KillReason | undefined;
  #grace: NodeJS.Timeout | undefined;
  #hasExited = false;
  #wasForced = false;
  #stopWatchdog: () => void = () => undefined;

  constructor(options: OciProcessOptions) {
    this.#options = options;
    const { child, cgroup } = options;
    this.#meter = new Meter(child.pid ?? 0, cgroup);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(this.#onExit({ code, signal })));
      child.once('error', () => resolve(this.#onExit({ code: null, signal: null })));
    });
    const { channel, logs } = this.#streams();
    this.channel = channel;
    this.logs = logs;
    this.gone = this.exited.then(async () => {
      await options.cleanUp(this.#wasForced);
      await cgroup?.remove();
    });
  }

  #streams(): Pick<CellProcess, 'channel' | 'logs'> {
    const { child, stdio, grant } = this.#options;
    const [input, output, errors, channel] = child.stdio;
    const logs = [output, errors].filter((stream) => stream !== null);
    if (!stdio || !input || !output) return { channel: channel as Duplex, logs };
    const { exited } = this;
    const frames = new StdioChannel({
      input,
      output,
      started: this.#started(),
      exited,
      maxBytes: grant.limits.output,
    });
    return { channel: frames, logs: errors ? [errors] : [] };
  }

  /** Resolves when the runtime has told the pid; never for a container that did not come up. */
  async #started(): Promise<void> {
    while (this.#innerPid() === undefined) {
      if (this.#hasExited) await new Promise(() => undefined);
      await sleep(START_POLL_MS);
    }
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  async confine(): Promise<boolean> {
    const { grant } = this.#options;
    const pid = this.#innerPid();
    if (pid === undefined || this.#hasExited || !this.#mountsAreRight(pid)) return false;
    this.#stopWatchdog = startWatchdog({
      exceeded: () => this.#meter.exceeded(grant.limits),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited) return;
    const pid = this.#innerPid();
    if (pid !== undefined) killIfThere(pid);
    this.#grace ??= setTimeout(() => this.#force(), RUNTIME_GRACE_MS).unref();
  }

  usage(): ProcessUsage {
    return this.#meter.read();
  }

  fault(exit: ExitInfo, logs: string): LaunchFault | undefined {
    return launchFault(exit, logs);
  }

  /** Ended while it was starting, or a runtime that does not notice. */
  #force(): void {
    const { child, cgroup } = this.#options;
    const pid = this.#innerPid();
    if (pid !== undefined) killIfThere(pid);
    cgroup?.kill();
    for (const below of childPids(child.pid ?? 0)) killIfThere(below);
    this.#wasForced = true;
    child.kill('SIGKILL');
  }

  /** The host's pid of pid 1 inside. The runtime is its parent; anybody else with that pid is a stranger. */
  #innerPid(): number | undefined {
    const { child, pidFile } = this.#options;
    try {
      const pid = Number(readFileSync(pidFile, 'utf8'));
      return pid > 1 && parentOf(pid) === child.pid ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  #mountsAreRight(pid: number): boolean {
    return [...this.#options.mounts].every(([guest, wanted]) => {
      const found = identityInside(pid, guest);
      return found.dev === wanted.dev && found.ino === wanted.ino;
    });
  }

  #onExit(exit: ExitInfo): ExitInfo {
    this.#hasExited = true;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    const ownEnd = this.#meter.stop(exit, this.#options.grant.limits.cpu);
    this.#killReason ??= ownEnd;
    return exit;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
