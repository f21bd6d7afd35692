/**
 * A process inside a jail, seen from the host: bwrap outside, the program as pid 1 inside.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, ExitInfo, KillReason, ProcessUsage } from '../contract.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { childPids } from './memory-watch.ts';
import { Meter } from './meter.ts';
import { identityInside, type PathIdentity } from './path-identity.ts';
import { startWatchdog } from './watchdog.ts';

/** How long bwrap may take to notice that its pid 1 is gone before it is ended itself. */
const BWRAP_GRACE_MS = 250;

export interface JailProcessOptions {
  child: ChildProcess;
  /** Where bwrap tells the pid of what it started. */
  info: Readable;
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
      child.once('error', () => resolve(this.#onExit({ code: null, signal: null })));
    });
    info.on('data', (text: Buffer) => (this.#innerPid ??= reportedPid(text)));
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

  confine(): boolean {
    const { child, cgroup, grant } = this.#options;
    this.#innerPid ??= childPids(child.pid ?? 0)[0];
    if (this.#innerPid === undefined || !this.#mountsAreRight(this.#innerPid)) return false;
    cgroup?.attach(this.#innerPid);
    this.#stopWatchdog = startWatchdog({
      exceeded: () => this.#meter.exceeded(grant.limits),
      kill: (reason) => this.kill(reason),
    });
    return true;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    if (this.#hasExited) return;
    const { child } = this.#options;
    if (this.#innerPid === undefined || parentOf(this.#innerPid) !== child.pid) {
      child.kill('SIGKILL');
      return;
    }
    // Pid 1 takes its whole namespace along, and bwrap stays to collect it: no zombie is left to the host's init.
    process.kill(this.#innerPid, 'SIGKILL');
    setTimeout(() => child.kill('SIGKILL'), BWRAP_GRACE_MS).unref();
  }

  usage(): ProcessUsage {
    return this.#meter.read();
  }

  #mountsAreRight(pid: number): boolean {
    return [...this.#options.mounts].every(([guest, wanted]) => {
      const found = identityInside(pid, guest);
      return found.dev === wanted.dev && found.ino === wanted.ino;
    });
  }

  #onExit(exit: ExitInfo): ExitInfo {
    this.#hasExited = true;
    this.#stopWatchdog();
    const ownEnd = this.#meter.stop(exit, this.#options.grant.limits.cpu);
    this.#killReason ??= ownEnd;
    return exit;
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
