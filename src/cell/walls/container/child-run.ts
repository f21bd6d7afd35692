/**
 * A container whose engine is a child process that waits for it: an OCI runtime or podman.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExitInfo } from '../../contract.ts';
import type { Cgroup } from '../../linux/cgroup/cgroup.ts';
import { childPids } from '../../linux/memory-watch.ts';
import type { ContainerRun } from './process.ts';
import type { SocketStreams } from './socket-streams.ts';
import { StdioChannel } from './stdio-channel.ts';

const START_POLL_MS = 2;
const KILLED = 137;

export interface ChildRunOptions {
  child: ChildProcess;
  /** True: the program speaks JSON on its standard streams instead of frames. */
  stdio: boolean;
  /** The socket from which the harness fetches its streams, unless it inherits them as descriptors. */
  streams?: SocketStreams | undefined;
  /** Maximum size of the answer. */
  maxBytes: number;
  /** File that the engine writes the pid of the container to. */
  pidFile: string;
  cgroup: (pid: number) => Cgroup | undefined;
  /** Name of the engine's child process that opens files for the container, such as gVisor's gofer. */
  filesHolder?: string | undefined;
  /** True if the engine removes the cgroup before its counters can be read. */
  engineRemovesGroup?: boolean;
  /** Removes what is left; `wasForced` if the engine could not clean up itself. */
  cleanUp: (wasForced: boolean) => Promise<unknown>;
}

export class ChildRun implements ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  readonly filesPid?: () => number | undefined;
  readonly #options: ChildRunOptions;
  #hasStarted = false;
  #hasEnded = false;
  #wasForced = false;
  #engineFailure: string | undefined;

  constructor(options: ChildRunOptions) {
    this.#options = options;
    const { child, filesHolder } = options;
    if (filesHolder !== undefined) this.filesPid = () => childNamed(child.pid ?? 0, filesHolder);
    this.exited = new Promise((resolve) => {
      const end = (exit: ExitInfo): void => {
        // Read the pid now, because cleaning up removes its file.
        this.#hasStarted = this.pid() !== undefined;
        this.#hasEnded = true;
        options.streams?.close();
        resolve(exit);
      };
      child.once('exit', (code, signal) => {
        // The end of a container is reported as a code. A signal killed the engine itself, before it could clean up.
        if (signal !== null) this.#onEngineFailure(`${child.spawnfile} was killed by ${signal}`);
        end({ code, signal });
      });
      child.once('error', (error) => {
        this.#onEngineFailure(error.message);
        end({ code: null, signal: null });
      });
    });
    const { channel, logs } = this.#streams();
    this.channel = channel;
    this.logs = logs;
  }

  get engineFailure(): string | undefined {
    return this.#engineFailure;
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

  /** Processes inside cannot kill pid 1 of their namespace, and the CPU limit has been ruled out by then. */
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

  #onEngineFailure(message: string): void {
    this.#engineFailure = message;
    this.#wasForced = true;
  }

  #streams(): Pick<ContainerRun, 'channel' | 'logs'> {
    const { child, stdio, maxBytes, streams } = this.#options;
    const [input, output, errors, channel] = child.stdio;
    const logs = [output, errors].filter((stream) => stream !== null);
    if (streams) return { channel: streams.channel, logs: [...logs, ...streams.logs] };
    if (!stdio || !input || !output) return { channel: channel as Duplex, logs };
    const { exited } = this;
    const frames = new StdioChannel({ input, output, started: this.#waitForStart(), exited, maxBytes });
    return { channel: frames, logs: errors ? [errors] : [] };
  }

  /** True once the engine has reported the pid, false if the container failed to start. */
  async #waitForStart(): Promise<boolean> {
    while (!this.#hasEnded) {
      if (this.pid() !== undefined) return true;
      await sleep(START_POLL_MS);
    }
    return this.#hasStarted;
  }
}

/** The only child whose command line starts with this name; undefined if there is none or more than one. */
function childNamed(parent: number, name: string): number | undefined {
  const found = childPids(parent).filter((pid) => commandOf(pid) === name);
  return found.length === 1 ? found[0] : undefined;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
  } catch {
    // The process has exited.
    return '';
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has just exited.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
