/**
 * One container managed by docker.
 *
 * @module
 */
import { unattended } from '../../../../errors.ts';
import { PassThrough, type Duplex, type Readable } from 'node:stream';
import type { ExitInfo } from '../../../contract.ts';
import { groupAround, type Cgroup } from '../../../linux/cgroup/cgroup.ts';
import type { ContainerRun } from '../process.ts';
import type { SocketStreams } from '../socket-streams.ts';
import { StdioChannel } from '../stdio-channel.ts';
import { DockerRefusal, type DockerApi } from './api.ts';
import { demultiplex } from './demultiplex.ts';

const KILLED = 137;

export interface DockerRunOptions {
  api: DockerApi;
  name: string;
  /** Loads the image into docker, then returns the configuration of the container. */
  configure: () => Promise<object>;
  /** The socket from which the harness fetches its streams; undefined for a program that uses its standard streams. */
  streams: SocketStreams | undefined;
  maxBytes: number;
}

export class DockerRun implements ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  readonly #options: DockerRunOptions;
  readonly #input = new PassThrough();
  readonly #output = new PassThrough();
  readonly #errors = new PassThrough();
  #resolveStarted!: (runs: boolean) => void;
  #pid: number | undefined;
  #engineFailure: string | undefined;
  #outOfMemory = false;
  #wasForced = false;

  constructor(options: DockerRunOptions) {
    this.#options = options;
    const { streams, maxBytes } = options;
    const started = new Promise<boolean>((resolve) => (this.#resolveStarted = resolve));
    this.exited = this.#runUntilExit().finally(() => {
      this.#resolveStarted(false);
      streams?.close();
    });
    const stdio = { input: this.#input, output: this.#output, started, exited: this.exited, maxBytes };
    this.channel = streams?.channel ?? new StdioChannel(stdio);
    this.logs = streams ? [this.#output, this.#errors, ...streams.logs] : [this.#errors];
  }

  get engineFailure(): string | undefined {
    return this.#engineFailure;
  }

  pid(): number | undefined {
    return this.#pid;
  }

  cgroup(pid: number): Cgroup | undefined {
    return groupAround(pid);
  }

  wasOutOfMemory(): boolean {
    return this.#outOfMemory;
  }

  force(): void {
    this.#wasForced = true;
    unattended(this.#remove());
  }

  cleanUp(): Promise<unknown> {
    return this.#remove();
  }

  async #runUntilExit(): Promise<ExitInfo> {
    try {
      const code = await this.#run();
      return { code, signal: null };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#pid !== undefined && !this.#wasForced && !(error instanceof DockerRefusal))
        this.#engineFailure = message;
      if (this.#errors.writable) this.#errors.write(`${message}\n`);
      this.#output.end();
      this.#errors.end();
      return { code: null, signal: this.#wasForced ? 'SIGKILL' : null };
    }
  }

  async #run(): Promise<number> {
    const { api, name, configure, streams } = this.#options;
    await api.create(name, await configure());
    const attached = await api.attach(name, { stdin: streams === undefined });
    demultiplex(attached, { output: this.#output, errors: this.#errors });
    if (!streams) this.#input.pipe(attached);
    const exitCode = api.wait(name);
    exitCode.catch(() => undefined);
    await api.start(name);
    this.#pid = (await api.inspect(name)).Pid || undefined;
    this.#resolveStarted(true);
    const code = await exitCode;
    if (code === KILLED) this.#outOfMemory = (await api.inspect(name)).OOMKilled;
    return code;
  }

  async #remove(): Promise<void> {
    const { api, name } = this.#options;
    await api.remove(name).catch(() => undefined);
  }
}
