/**
 * A process inside a jail as seen from the host: bwrap outside, the program as pid 1 inside.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../../contract.ts';
import type { Cgroup } from '../../linux/cgroup/cgroup.ts';
import { childPids, pidsByName } from '../../linux/memory-watch.ts';
import { Meter } from '../../linux/meter.ts';
import { privateBytes } from '../../linux/private-memory.ts';
import { identityInside, type PathIdentity } from '../../linux/path-identity.ts';
import { lowerSession } from '../../linux/priority.ts';
import { Watchdog } from '../../linux/watchdog.ts';
import { fixForJail } from './probe.ts';

/** How long bwrap may take to start, or to notice that its pid 1 is gone, before it is killed too. */
const BWRAP_GRACE_MS = 500;
/** Its own message, before any skill code ran. */
const BWRAP_ERROR = /^bwrap: /m;
/** For each temporary file system that a cell can write to. */
const MAX_FILES = { tmp: 65_536, 'dev/shm': 4096 };

export interface JailProcessOptions {
  child: ChildProcess;
  /** The pipe on which bwrap reports the pid of its child. */
  info: Readable;
  /** A unique name that bwrap was started with as `argv[0]`. */
  name: string;
  /** Nice value of the cell; 0 keeps the host's priority. */
  niceness: number;
  grant: Grant;
  cgroup: Cgroup | undefined;
  /** The expected identity of each granted path, by guest path. */
  mounts: Map<string, PathIdentity>;
}

export class JailProcess implements CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  /** Resolves when the cell's processes and cgroup are gone. */
  readonly gone: Promise<unknown>;
  readonly #options: JailProcessOptions;
  readonly #meter: Meter;
  #killReason: KillReason | undefined;
  #innerPid: number | undefined;
  #spawnError: Error | undefined;
  #exitSignal: NodeJS.Signals | undefined;
  #attached: Promise<void> | undefined;
  #grace: NodeJS.Timeout | undefined;
  #hasExited = false;
  #wasConfined = false;
  #watchdog: Watchdog | undefined;

  constructor(options: JailProcessOptions) {
    this.#options = options;
    const { child, cgroup, info } = options;
    this.#meter = new Meter(child.pid ?? 0, cgroup);
    this.channel = child.stdio[3] as Duplex;
    this.logs = [child.stdout, child.stderr].filter((stream) => stream !== null);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(this.#onExit({ code, signal })));
      child.once('error', (error) => {
        this.#spawnError = error;
        resolve(this.#onExit({ code: null, signal: null }));
      });
    });
    info.on('data', (text: Buffer) => this.#onReportedPid(reportedPid(text)));
    info.on('error', () => undefined);
    this.gone = this.exited.then(() => cgroup?.remove());
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  /** Host pid of pid 1 inside, once known. */
  get innerPid(): number | undefined {
    return this.#innerPid;
  }

  /** Whether the jail opened and a program inside it got ready. */
  get wasConfined(): boolean {
    return this.#wasConfined;
  }

  /** Host pids of all processes inside. */
  members(): number[] {
    const { cgroup } = this.#options;
    return cgroup?.members() ?? childPids(this.#innerPid ?? 0);
  }

  async confine(): Promise<boolean> {
    const { child, grant, niceness } = this.#options;
    this.#onReportedPid(this.#innerPid ?? childPids(child.pid ?? 0)[0]);
    const pid = this.#innerPid;
    if (pid === undefined || !this.#mountsAreRight(pid)) return false;
    lowerSession(pid, niceness);
    await this.#attached;
    if (this.#hasExited) return false;
    this.#wasConfined = true;
    this.#watchdog = new Watchdog({
      exceeded: () => this.#meter.exceeded(grant.limits) ?? this.#tooManyFiles(pid),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited) return;
    // If killed before it sets up die-with-parent, bwrap would leave its child behind, so wait for it first.
    if (this.#innerPid !== undefined) this.#killInner(this.#innerPid);
    this.#grace ??= setTimeout(() => this.#killAll(), BWRAP_GRACE_MS).unref();
  }

  #killAll(): void {
    const { child } = this.#options;
    for (const pid of childPids(child.pid ?? 0)) killIfThere(pid);
    child.kill('SIGKILL');
  }

  /** Killing pid 1 kills its whole namespace, and bwrap stays to reap it, so that no zombie is left to the host's init. */
  #killInner(pid: number): void {
    if (parentOf(pid) === this.#options.child.pid) killIfThere(pid);
  }

  usage(): ProcessUsage {
    return this.#meter.read();
  }

  rest(isResting: boolean): void {
    // Without a cgroup, nobody else notices that memory runs out.
    if (this.#options.cgroup) this.#watchdog?.rest(isResting);
  }

  privateBytes(): number | undefined {
    return privateBytes(this.#innerPid);
  }

  /** Failures of bwrap itself, which are not the skill's fault. */
  fault({ started, logs }: { started: boolean; logs: string }): LaunchFault | undefined {
    if (this.#spawnError) return notStarted(this.#spawnError);
    if (!started && BWRAP_ERROR.test(logs)) return notOpened(logs.trim());
    return this.#exitSignal && this.#killReason === undefined
      ? killedFromOutside(this.#exitSignal)
      : undefined;
  }

  /** Attaching to the cgroup is slow, so it runs while Python starts, which takes longer. */
  #onReportedPid(pid: number | undefined): void {
    if (pid === undefined || this.#attached) return;
    this.#innerPid = pid;
    if (this.#killReason) this.#killInner(pid);
    this.#attached = this.#options.cgroup?.attach(pid) ?? Promise.resolve();
    // confine() awaits it and reports the error.
    this.#attached.catch(() => undefined);
  }

  /** Even an empty file uses kernel memory; a cgroup counts that, a tmpfs does not. */
  #tooManyFiles(pid: number): 'scratch' | undefined {
    if (this.#options.cgroup) return undefined;
    try {
      const isFull = Object.entries(MAX_FILES).some(([place, most]) => {
        const { files, ffree } = statfsSync(`/proc/${pid}/root/${place}`);
        return files - ffree > most;
      });
      return isFull ? 'scratch' : undefined;
    } catch {
      // The process is gone; its exit is handled elsewhere.
      return undefined;
    }
  }

  #mountsAreRight(pid: number): boolean {
    return [...this.#options.mounts].every(([guest, wanted]) => {
      const found = identityInside(pid, guest);
      return found.dev === wanted.dev && found.ino === wanted.ino;
    });
  }

  /**
   * A bwrap that was killed from outside may not have set up die-with-parent yet. A child that still waits for bwrap
   * would wait forever; it is found by its name. Later children are killed through the cgroup, or exit when their
   * streams close.
   */
  #killLeftovers({ signal }: ExitInfo): void {
    const closeStreams = (): void => {
      for (const stream of [this.channel, ...this.logs]) stream.destroy();
    };
    // The reason of a bwrap that gave up may still be unread.
    if (signal === null) setTimeout(closeStreams, BWRAP_GRACE_MS).unref();
    else closeStreams();
    const { cgroup, name } = this.#options;
    for (const pid of pidsByName(name)) killIfThere(pid);
    this.#attached?.then(
      () => cgroup?.kill(),
      () => undefined,
    );
  }

  #onExit(exit: ExitInfo): ExitInfo {
    this.#hasExited = true;
    this.#exitSignal = exit.signal ?? undefined;
    clearTimeout(this.#grace);
    this.#watchdog?.stop();
    if (exit.signal !== null || this.#innerPid === undefined) this.#killLeftovers(exit);
    this.#killReason ??= this.#meter.stop(exit, this.#options.grant.limits.cpu);
    return exit;
  }
}

function notStarted(cause: Error): LaunchFault {
  return {
    code: 'skill_unavailable',
    message: `bubblewrap could not be started: ${cause.message}`,
    fix: 'Reinstall it (apt-get install bubblewrap), and check it with `skillcell doctor`.',
  };
}

/** The probe says the same if it finds out first. */
function notOpened(reason: string): LaunchFault {
  return {
    code: 'skill_unavailable',
    message: `bubblewrap cannot open a jail here: ${reason}`,
    fix: fixForJail(reason),
  };
}

function killedFromOutside(signal: NodeJS.Signals): LaunchFault {
  return {
    code: 'internal',
    message: `The sandbox was killed from outside: bubblewrap received ${signal}`,
    fix: 'Call the skill again. If this repeats, check the kernel log for the out-of-memory killer.',
  };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has just exited.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function reportedPid(text: Buffer): number | undefined {
  const pid = /"child-pid":\s*(\d+)/.exec(text.toString('utf8'))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Guards against a pid that was reused. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
