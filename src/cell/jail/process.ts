/**
 * A process inside a jail, seen from the host: bwrap outside, the program as pid 1 inside.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, LaunchFault, ProcessUsage } from '../contract.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { childPids, pidsNamed } from './memory-watch.ts';
import { Meter } from './meter.ts';
import { identityInside, type PathIdentity } from './path-identity.ts';
import { lowerSession } from './priority.ts';
import { startWatchdog } from './watchdog.ts';

/** How long bwrap may take to start, or to notice that its pid 1 is gone, before it is ended itself. */
const BWRAP_GRACE_MS = 500;
/** In each file system that a cell can write to and that ends with it. */
const MAX_FILES = { tmp: 65_536, 'dev/shm': 4096 };

export interface JailProcessOptions {
  child: ChildProcess;
  /** Where bwrap tells the pid of what it started. */
  info: Readable;
  /** By which name bwrap was started: nobody else has it. */
  name: string;
  /** How far it steps back behind the host; 0 for not at all. */
  niceness: number;
  grant: Grant;
  cgroup: Cgroup | undefined;
  /** What each granted path has to be inside, by guest path. */
  mounts: Map<string, PathIdentity>;
}

export class JailProcess implements CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  /** Resolves when nothing of the cell is left: no process, no cgroup. */
  readonly gone: Promise<unknown>;
  readonly #options: JailProcessOptions;
  readonly #meter: Meter;
  #killReason: KillReason | undefined;
  #innerPid: number | undefined;
  #spawnError: Error | undefined;
  #endedBy: NodeJS.Signals | undefined;
  #attached: Promise<void> | undefined;
  #grace: NodeJS.Timeout | undefined;
  #hasExited = false;
  #stopWatchdog: () => void = () => undefined;

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

  /** The host's pid of pid 1 inside, once known. */
  get innerPid(): number | undefined {
    return this.#innerPid;
  }

  /** The host's pids of everything inside. */
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
    this.#stopWatchdog = startWatchdog({
      exceeded: () => this.#meter.exceeded(grant.limits) ?? this.#tooManyFiles(pid),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited) return;
    // Ended before it has tied its child to itself, bwrap would leave it behind: so it is waited for.
    if (this.#innerPid !== undefined) this.#killInner(this.#innerPid);
    this.#grace ??= setTimeout(() => this.#killAll(), BWRAP_GRACE_MS).unref();
  }

  #killAll(): void {
    const { child } = this.#options;
    for (const pid of childPids(child.pid ?? 0)) killIfThere(pid);
    child.kill('SIGKILL');
  }

  /** Pid 1 takes its whole namespace along, and bwrap stays to collect it: no zombie is left to the host's init. */
  #killInner(pid: number): void {
    if (parentOf(pid) === this.#options.child.pid) killIfThere(pid);
  }

  usage(): ProcessUsage {
    return this.#meter.read();
  }

  /** What happened to bwrap itself: neither is a fault of the skill. */
  fault(): LaunchFault | undefined {
    if (this.#spawnError) return notStarted(this.#spawnError);
    return this.#endedBy && this.#killReason === undefined ? endedFromOutside(this.#endedBy) : undefined;
  }

  /** The group takes its time; Python needs longer to start, so the two run side by side. */
  #onReportedPid(pid: number | undefined): void {
    if (pid === undefined || this.#attached) return;
    this.#innerPid = pid;
    if (this.#killReason) this.#killInner(pid);
    this.#attached = this.#options.cgroup?.attach(pid) ?? Promise.resolve();
    // Told to whoever waits for it in confine().
    this.#attached.catch(() => undefined);
  }

  /** A file costs the kernel memory even when it is empty; a cgroup counts that, a tmpfs does not. */
  #tooManyFiles(pid: number): 'scratch' | undefined {
    if (this.#options.cgroup) return undefined;
    try {
      const isFull = Object.entries(MAX_FILES).some(([place, most]) => {
        const { files, ffree } = statfsSync(`/proc/${pid}/root/${place}`);
        return files - ffree > most;
      });
      return isFull ? 'scratch' : undefined;
    } catch {
      // The process is gone; its end is noticed elsewhere.
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
   * A bwrap that somebody ended may not have tied its child to itself yet. One that waits to be set up by it waits for
   * ever, and is known by its name; later the group ends whatever is inside, and where there is none, the harness leaves
   * when it has no streams any more.
   */
  #endWhatIsLeft(): void {
    for (const stream of [this.channel, ...this.logs]) stream.destroy();
    const { cgroup, name } = this.#options;
    for (const pid of pidsNamed(name)) killIfThere(pid);
    this.#attached?.then(
      () => cgroup?.kill(),
      () => undefined,
    );
  }

  #onExit(exit: ExitInfo): ExitInfo {
    this.#hasExited = true;
    this.#endedBy = exit.signal ?? undefined;
    clearTimeout(this.#grace);
    this.#stopWatchdog();
    if (exit.signal !== null || this.#innerPid === undefined) this.#endWhatIsLeft();
    const ownEnd = this.#meter.stop(exit, this.#options.grant.limits.cpu);
    this.#killReason ??= ownEnd;
    return exit;
  }
}

function notStarted(cause: Error): LaunchFault {
  return {
    code: 'skill_unavailable',
    message: `bubblewrap could not be started: ${cause.message}`,
    fix: 'Install it again (apt-get install bubblewrap), and check it with `skillcell doctor`.',
  };
}

function endedFromOutside(signal: NodeJS.Signals): LaunchFault {
  return {
    code: 'internal',
    message: `The sandbox was ended from outside: bubblewrap got ${signal}`,
    fix: 'Call the skill again. If this repeats, look in the kernel log for the out-of-memory killer.',
  };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function reportedPid(text: Buffer): number | undefined {
  const pid = /"child-pid":\s*(\d+)/.exec(text.toString('utf8'))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Guards against a pid that was given to someone else since. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
