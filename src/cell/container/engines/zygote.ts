/**
 * A container that serves several calls, one after the other: each is a fork of a process that never ran skill code. After
 * each the keeper inside ends what is left and empties what was writable. For skills with `reuse: pool` alone: the calls of
 * one skill share a pid namespace and a user, as they never do otherwise.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { LARGEST_FILE_BYTES, type Grant } from '../../../policy/grant.ts';
import type { Artifact, CellProcess, ExitInfo, Zygote } from '../../contract.ts';
import { encodeFrame, readFrames, type GuestFrame } from '../../frames.ts';
import { childPids } from '../../jail/memory-watch.ts';
import { seccompArch, seccompFilter } from '../../jail/seccomp/policy.ts';
import { LogCapture } from '../../log-capture.ts';
import { ForkedProcess } from '../../python/forked-process.ts';
import { introduce, makeRunDir, writesOutside, zygoteSpec } from '../../python/zygote.ts';
import { confined } from '../../session.ts';
import type { OciWall } from '../oci/wall.ts';
import type { ContainerProcess } from '../process.ts';

const ID_BYTES = 16;
const MIB = 1024 * 1024;
const FOREVER_MS = 3_600_000;
const FRAME_LIMITS = { maxBytes: 4096, maxFrames: 10_000 };
/** What the keeper itself takes. */
const KEEPER_BYTES = 64 * MIB;
const KEEPER_PROCESSES = 64;
/** Outlives the process that made it, and nobody empties it. */
const LEFT_BEHIND = ['shmget', 'msgget', 'semget', 'mq_open'];

export interface ContainerZygoteOptions {
  home: string;
  wall: OciWall;
  artifact: Artifact;
  grant: Grant;
}

export class ContainerZygote implements Zygote {
  readonly maxForks = 100;
  readonly #options: ContainerZygoteOptions;
  readonly #runDir: string;
  readonly #container: ContainerProcess;
  #waiting: ((ready: boolean) => void)[] = [];
  #ended = false;
  #fork: { name: string; process: ForkedProcess } | undefined;
  #listening = false;
  #closing = false;

  constructor(options: ContainerZygoteOptions) {
    this.#options = options;
    const { wall, home, artifact, grant } = options;
    this.#runDir = makeRunDir(home, wall.identity(grant)?.uid);
    const spec = zygoteSpec(artifact.spec(grant), this.#runDir);
    this.#container = wall.launch({ ...spec, denied: LEFT_BEHIND }, keeperGrant(grant));
    // Its own words only matter while starting, and then the fallback is a cold start.
    void new LogCapture(this.#container.logs, () => undefined);
    readFrames(this.#container.channel, FRAME_LIMITS, {
      onFrame: (frame) => this.#onFrame(frame),
      onFault: () => this.#end(),
    });
    this.#container.channel.on('error', () => undefined);
    void this.#container.exited.then(() => this.#onExit());
  }

  /** Resolves when it can serve a call, which is after it has cleaned up behind the last one. */
  get ready(): Promise<boolean> {
    if (this.isReady || this.#ended) return Promise.resolve(!this.#ended);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** One call at a time: who comes meanwhile gets a container of its own. */
  get isReady(): boolean {
    return this.#listening && !this.#closing && this.#fork === undefined;
  }

  gatewayFolder(): string {
    return join(this.#runDir, randomBytes(ID_BYTES).toString('hex'));
  }

  async fork(folder: string = this.gatewayFolder()): Promise<CellProcess> {
    const name = basename(folder);
    const id = Buffer.from(name, 'hex');
    const { wall, grant } = this.#options;
    const process = new ForkedProcess({
      channel: connect(join(this.#runDir, 'socket')),
      log: connect(join(this.#runDir, 'socket')),
      grant,
      siblings: () => childPids(this.#container.firstPid ?? 0),
      adopt: () => undefined,
      makeCgroup: () => wall.cgroupFor(grant),
      end: () => this.#send({ t: 'kill', id: name }),
      endAll: () => this.#end(),
    });
    this.#fork = { name, process };
    try {
      await Promise.all([introduce(process.channel, 'c', id), introduce(process.logs[0], 'l', id)]);
    } catch (error) {
      this.#onForkExit(name, { code: null, signal: 'SIGKILL' });
      this.#end();
      throw error;
    }
    return process;
  }

  close(): void {
    this.#closing = true;
    if (!this.#fork) this.#end();
  }

  #end(): void {
    this.#closing = true;
    this.#container.kill('done');
  }

  #onFrame({ body }: GuestFrame): void {
    if (body['t'] === 'ready') return void this.#onStarted();
    if (body['t'] === 'listening') {
      this.#listening = true;
      return this.#tellWaiting();
    }
    const name = String(body['id']);
    if (body['t'] === 'forked')
      return this.#fork?.name === name ? this.#fork.process.onForked(body['pid']) : undefined;
    const signal = Number(body['signal']);
    return this.#onForkExit(name, { code: signal ? 128 + signal : Number(body['code']), signal: null });
  }

  #onForkExit(name: string, exit: ExitInfo): void {
    if (this.#fork?.name !== name) return;
    this.#fork.process.onExit(exit);
    this.#fork = undefined;
    if (this.#closing) this.#end();
    else this.#tellWaiting();
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(!this.#ended);
  }

  async #onStarted(): Promise<void> {
    if (!(await confined(this.#container, {}))) return this.#end();
    const { grant, artifact } = this.#options;
    const { memory, cpu, scratch, processes } = grant.limits;
    this.#send({
      t: 'init',
      plain: true,
      modules: artifact.bundle.inspection.modules.map((finding) => finding.value),
      siblings: Object.keys(artifact.bundle.files).map((name) => name.split('/')[0]?.replace(/\.py$/, '')),
      limits: { memory, cpu, scratch, file_size: writesOutside(grant) ? LARGEST_FILE_BYTES : scratch },
      // The keeper has to fork, so the filter of the container lets it; a child puts on that of a jail.
      filter: seccompFilter({
        syscalls: grant.syscalls,
        allowProcesses: processes > 0,
        arch: seccompArch(),
      }).toString('hex'),
    });
  }

  #onExit(): void {
    this.#ended = true;
    this.#listening = false;
    this.#fork?.process.onExit({ code: null, signal: 'SIGKILL' });
    this.#fork = undefined;
    this.#tellWaiting();
    rmSync(this.#runDir, { recursive: true, force: true });
  }

  #send(body: Record<string, unknown>): void {
    const { channel } = this.#container;
    if (channel.writable) channel.write(encodeFrame(body));
  }
}

/** Of the container: it outlives many calls, and has to hold a call and its keeper. */
function keeperGrant(grant: Grant): Grant {
  const { memory, processes } = grant.limits;
  const own = {
    timeout: FOREVER_MS,
    cpu: FOREVER_MS,
    memory: memory + KEEPER_BYTES,
    processes: processes + KEEPER_PROCESSES,
  };
  return { ...grant, limits: { ...grant.limits, ...own } };
}
