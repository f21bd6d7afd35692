/**
 * A container whose engine is a program of ours that waits for it: an OCI runtime, or podman.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExitInfo } from '../contract.ts';
import type { Cgroup } from '../jail/cgroup/cgroup.ts';
import { childPids } from '../jail/memory-watch.ts';
import type { ContainerRun } from './process.ts';
import type { SocketStreams } from './socket-streams.ts';
import { StdioChannel } from './stdio-channel.ts';

const START_POLL_MS = 2;
const KILLED = 137;

export interface ChildRunOptions {
  child: ChildProcess;
  /** True: the program speaks on its standard streams, not in frames. */
  stdio: boolean;
  /** Where the harness fetches its streams, if not from descriptors that it was born with. */
  streams?: SocketStreams | undefined;
  /** What it may answer, in bytes. */
  maxBytes: number;
  /** Where the engine tells the pid of what it started. */
  pidFile: string;
  cgroup: (pid: number) => Cgroup | undefined;
  /** Name of a child of the engine that holds the files of the container for it, as gVisor's gofer does. */
  filesHolder?: string | undefined;
  /** True where the group is gone before anybody can ask it why. */
  engineRemovesGroup?: boolean;
  /** Removes what is left; `wasForced` when the engine could not do its part. */
  cleanUp: (wasForced: boolean) => Promise<unknown>;
}

export class ChildRun implements ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly ended: Promise<ExitInfo>;
  readonly filesPid?: () => number | undefined;
  readonly #options: ChildRunOptions;
  #hasBegun = false;
  #hasEnded = false;
  #wasForced = false;
  #lost: string | undefined;

  constructor(options: ChildRunOptions) {
    this.#options = options;
    const { child, filesHolder } = options;
    if (filesHolder !== undefined) this.filesPid = () => childNamed(child.pid ?? 0, filesHolder);
    this.ended = new Promise((resolve) => {
      const end = (exit: ExitInfo): void => {
        // Where the pid stands is cleared away from here on.
        this.#hasBegun = this.pid() !== undefined;
        this.#hasEnded = true;
        options.streams?.close();
        resolve(exit);
      };
      child.once('exit', (code, signal) => {
        // The end of a container is told as a code: a signal was meant for the engine, which then left all as it was.
        if (signal !== null) this.#onLost(`${child.spawnfile} was ended by ${signal}`);
        end({ code, signal });
      });
      child.once('error', (error) => {
        this.#onLost(error.message);
        end({ code: null, signal: null });
      });
    });
    const { channel, logs } = this.#streams();
    this.channel = channel;
    this.logs = logs;
  }

  get lost(): string | undefined {
    return this.#lost;
  }

  pid(): number | undefined {
    try {
      const pid = Number(readFileSync(this.#options.pidFile, 'utf8'));
      return pid > 1 ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  cgroup(pid: number): Cgroup | undefined {
    return this.#options.cgroup(pid);
  }

  /** Nobody inside can kill the first process of a namespace, and a limit of CPU time has been ruled out by then. */
  wasOutOfMemory({ code }: ExitInfo): boolean {
    return this.#options.engineRemovesGroup === true && code === KILLED;
  }

  force(): void {
    const { child } = this.#options;
    this.#wasForced = true;
    for (const pid of childPids(child.pid ?? 0)) killIfThere(pid);
    child.kill('SIGKILL');
  }

  cleanUp(): Promise<unknown> {
    return this.#options.cleanUp(this.#wasForced);
  }

  #onLost(what: string): void {
    this.#lost = what;
    this.#wasForced = true;
  }

  #streams(): Pick<ContainerRun, 'channel' | 'logs'> {
    const { child, stdio, maxBytes, streams } = this.#options;
    const [input, output, errors, channel] = child.stdio;
    const logs = [output, errors].filter((stream) => stream !== null);
    if (streams) return { channel: streams.channel, logs: [...logs, ...streams.logs] };
    if (!stdio || !input || !output) return { channel: channel as Duplex, logs };
    const { ended: exited } = this;
    const frames = new StdioChannel({ input, output, started: this.#started(), exited, maxBytes });
    return { channel: frames, logs: errors ? [errors] : [] };
  }

  /** True when the engine has told the pid, false for a container that did not come up. */
  async #started(): Promise<boolean> {
    while (!this.#hasEnded) {
      if (this.pid() !== undefined) return true;
      await sleep(START_POLL_MS);
    }
    return this.#hasBegun;
  }
}

/** The one child whose command line begins with this name; undefined when there is none, or more than one. */
function childNamed(parent: number, name: string): number | undefined {
  const found = childPids(parent).filter((pid) => commandOf(pid) === name);
  return found.length === 1 ? found[0] : undefined;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
  } catch {
    // It has ended.
    return '';
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
