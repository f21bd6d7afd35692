/**
 * One container in the hands of docker.
 *
 * @module
 */
import { unattended } from '../../../errors.ts';
import { PassThrough, type Duplex, type Readable } from 'node:stream';
import type { ExitInfo } from '../../contract.ts';
import { groupAround, type Cgroup } from '../../jail/cgroup/cgroup.ts';
import type { ContainerRun } from '../process.ts';
import type { SocketStreams } from '../socket-streams.ts';
import { StdioChannel } from '../stdio-channel.ts';
import { DockerRefusal, type DockerApi } from './api.ts';
import { demultiplex } from './demultiplex.ts';

const KILLED = 137;

export interface DockerRunOptions {
  api: DockerApi;
  name: string;
  /** Makes the image known to docker, then says what the container is to be. */
  configure: () => Promise<object>;
  /** Where the harness fetches its streams; absent for a program that speaks on its standard streams. */
  streams: SocketStreams | undefined;
  maxBytes: number;
}

export class DockerRun implements ContainerRun {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly ended: Promise<ExitInfo>;
  readonly #options: DockerRunOptions;
  readonly #input = new PassThrough();
  readonly #output = new PassThrough();
  readonly #errors = new PassThrough();
  #settleStarted!: (runs: boolean) => void;
  #pid: number | undefined;
  #lost: string | undefined;
  #outOfMemory = false;
  #wasForced = false;

  constructor(options: DockerRunOptions) {
    this.#options = options;
    const { streams, maxBytes } = options;
    const started = new Promise<boolean>((resolve) => (this.#settleStarted = resolve));
    this.ended = this.#live().finally(() => {
      this.#settleStarted(false);
      streams?.close();
    });
    const stdio = { input: this.#input, output: this.#output, started, exited: this.ended, maxBytes };
    this.channel = streams?.channel ?? new StdioChannel(stdio);
    this.logs = streams ? [this.#output, this.#errors, ...streams.logs] : [this.#errors];
  }

  get lost(): string | undefined {
    return this.#lost;
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

  async #live(): Promise<ExitInfo> {
    try {
      const code = await this.#run();
      return { code, signal: null };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      if (this.#pid !== undefined && !this.#wasForced && !(error instanceof DockerRefusal)) this.#lost = said;
      if (this.#errors.writable) this.#errors.write(`${said}\n`);
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
    const ended = api.wait(name);
    ended.catch(() => undefined);
    await api.start(name);
    this.#pid = (await api.inspect(name)).Pid || undefined;
    this.#settleStarted(true);
    const code = await ended;
    if (code === KILLED) this.#outOfMemory = (await api.inspect(name)).OOMKilled;
    return code;
  }

  async #remove(): Promise<void> {
    const { api, name } = this.#options;
    await api.remove(name).catch(() => undefined);
  }
}
