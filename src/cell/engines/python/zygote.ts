/**
 * The host's side of a Python zygote: the host connects, the zygote forks, and the fork is a cell like any other.
 *
 * @module
 */
import type { FrameOf, ToZygote, Unchecked, ZygoteFrames } from '../../../../guest/protocol.ts';
import { unattended } from '../../../errors.ts';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, CellProcess, ExitInfo, LaunchSpec, Zygote } from '../../contract.ts';
import { zygoteKind } from '../../protocol/frame-kinds.ts';
import { encodeFrame, readFrames, type GuestFrame } from '../../protocol/frames.ts';
import type { ForkingProcess, ForkingWall } from './forking-wall.ts';
import { withGateway } from '../../native-env.ts';
import { makeRunFolder, type RunFolder } from '../../linux/run-folder.ts';
import { tryConfine } from '../../protocol/session.ts';
import { ForkCgroup, type NewChild } from './fork-cgroup.ts';
import { ForkedProcess } from './forked-process.ts';

const GUEST_RUN_DIR = '/run/zygote';
const MIB = 1024 * 1024;
const ID_BYTES = 16;
const FOREVER_MS = 3_600_000;
const FRAME_LIMITS = { maxBytes: 4096, maxFrames: 1_000_000 };

export interface PythonZygoteOptions {
  home: string;
  wall: ForkingWall;
  artifact: Artifact;
  grant: Grant;
}

export class PythonZygote implements Zygote {
  readonly ready: Promise<boolean>;
  readonly #options: PythonZygoteOptions;
  readonly #run: RunFolder;
  readonly #runDir: string;
  readonly #jailed: ForkingProcess;
  readonly #forks = new Map<string, ForkedProcess>();
  readonly #forkCgroup: ForkCgroup;
  #settleReady!: (ready: boolean) => void;
  #listening = false;
  #closing = false;
  #hasEnded = false;

  constructor(options: PythonZygoteOptions) {
    this.#options = options;
    const { wall, home, artifact, grant } = options;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    this.#run = makeRunDir(home, wall.identity(grant)?.uid);
    this.#runDir = this.#run.path;
    const spec = zygoteSpec(artifact.spec(grant), this.#runDir);
    this.#forkCgroup = new ForkCgroup({
      makeCgroup: () => wall.cgroupFor(grant),
      zygotePid: () => this.#jailed.innerPid,
    });
    this.#jailed = wall.launch(
      hasGateway(grant) ? withGateway(spec, this.#emptyFolder()) : spec,
      zygoteGrant(grant),
    );
    // Its logs would only explain a failed start, and then calls fall back to cold starts.
    for (const stream of this.#jailed.logs) stream.on('error', () => undefined).resume();
    readFrames(this.#jailed.channel, FRAME_LIMITS, {
      onFrame: (frame) => this.#onFrame(frame),
      onFault: () => this.#end(),
      onThrown: () => this.#end(),
    });
    this.#jailed.channel.on('error', () => undefined);
    unattended(this.#jailed.exited.then(() => this.#onExit()));
  }

  get isReady(): boolean {
    return this.#listening && !this.#closing && !this.#hasEnded;
  }

  get bytes(): number {
    return this.#jailed.privateBytes?.() ?? 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  gatewayFolder(): string {
    return join(this.#runDir, randomBytes(ID_BYTES).toString('hex'));
  }

  /** A fork is named after the folder of its gateway, so that it can find it. */
  async fork(gatewayFolder: string = this.gatewayFolder()): Promise<CellProcess> {
    const name = basename(gatewayFolder);
    const id = Buffer.from(name, 'hex');
    const { wall, grant } = this.#options;
    const fork = new ForkedProcess({
      channel: connect(join(this.#runDir, 'socket')),
      log: connect(join(this.#runDir, 'socket')),
      grant,
      find: (isChild) => this.#forkCgroup.find(isChild) ?? this.#inJail(isChild),
      makeCgroup: () => wall.cgroupFor(grant),
      end: () => this.#send({ t: 'kill', id: name }),
      endAll: () => this.#end(),
    });
    // Registered before the zygote can report it.
    this.#forks.set(name, fork);
    try {
      await Promise.all([introduce(fork.channel, 'c', id), introduce(fork.logs[0], 'l', id)]);
      if (this.#hasEnded) throw new Error('The zygote has ended');
    } catch (error) {
      this.#onForkExit(name, { code: null, signal: 'SIGKILL' });
      throw error;
    }
    return fork;
  }

  /** Takes no more calls, and ends after the running ones. */
  close(): void {
    this.#closing = true;
    this.#endWhenIdle();
  }

  /** A child that was forked before the zygote had moved to the first group of children. */
  #inJail(isChild: (pid: number) => boolean): NewChild | undefined {
    const pid = this.#jailed.members().find((member) => member !== this.#jailed.innerPid && isChild(member));
    return pid === undefined ? undefined : { pid };
  }

  /** Mount point for the gateway folder of each fork. */
  #emptyFolder(): string {
    const folder = join(this.#runDir, 'gateway');
    mkdirSync(folder, { mode: 0o711 });
    return folder;
  }

  #endWhenIdle(): void {
    if (this.#closing && this.#forks.size === 0) this.#end();
  }

  /** Kills the zygote and all its forks. */
  #end(): void {
    this.#jailed.kill('done');
  }

  #onFrame({ body }: GuestFrame): void {
    const kind = zygoteKind(body);
    switch (kind) {
      case 'ready':
        return unattended(this.#onStarted(), () => this.#end());
      case 'listening':
        return this.#onListening();
      case 'forked':
        return this.#forks.get(String(body['id']))?.onForked(body['pid']);
      case 'exit':
      case undefined:
        return this.#onForkExit(String(body['id']), exitOf(body));
      default:
        return kind satisfies never;
    }
  }

  #onListening(): void {
    this.#listening = true;
    unattended(
      this.#forkCgroup.prepare().then(() => this.#settleReady(true)),
      () => this.#end(),
    );
  }

  #onForkExit(name: string, exit: ExitInfo): void {
    this.#forks.get(name)?.onExit(exit);
    this.#forks.delete(name);
    this.#endWhenIdle();
  }

  async #onStarted(): Promise<void> {
    if (!(await tryConfine(this.#jailed))) return this.#end();
    const { wall, grant, artifact } = this.#options;
    const { memory, cpu, scratch } = grant.limits;
    const files = Object.keys(artifact.bundle.files);
    const gateway = hasGateway(grant);
    const filters = wall.forkFilters(grant, { gateway });
    this.#send({
      t: 'init',
      // Only names: the zygote has its own list of modules that are safe to preload.
      modules: artifact.bundle.inspection.modules.map((finding) => finding.value),
      siblings: files.map((name) => name.split('/')[0]?.replace(/\.py$/, '')),
      limits: { memory, cpu, scratch, file_size: writesOutside(grant) ? 1024 * MIB : scratch },
      masked: wall.masked,
      gateway,
      filter: filters.zygote.toString('hex'),
      fork_filter: filters.fork.toString('hex'),
      cell: artifact.init(grant),
    });
  }

  #onExit(): void {
    this.#hasEnded = true;
    this.#forkCgroup.close();
    this.#settleReady(false);
    for (const fork of this.#forks.values()) fork.onLost();
    this.#forks.clear();
    this.#run.remove();
  }

  #send(body: FrameOf<ToZygote>): void {
    if (this.#jailed.channel.writable) this.#jailed.channel.write(encodeFrame(body));
  }
}

/** Sends the role and id of the connection once it is open. */
function introduce(stream: Duplex | Readable | undefined, role: 'c' | 'l', id: Buffer): Promise<void> {
  const socket = stream as Socket;
  return new Promise((resolve, reject) => {
    // Stays attached: if the zygote dies, the write below fails, and an unhandled error event would crash the host.
    socket.on('error', reject);
    socket.once('connect', () => {
      socket.write(Buffer.concat([Buffer.from(role), id]));
      resolve();
    });
  });
}

function makeRunDir(home: string, uid: number | undefined): RunFolder {
  const folder = makeRunFolder(home);
  if (uid !== undefined) chownSync(folder.path, uid, -1);
  return folder;
}

function zygoteSpec(spec: LaunchSpec, runDir: string): LaunchSpec {
  const argv = spec.argv.map((arg) => (arg === '/harness/main.py' ? '/harness/zygote.py' : arg));
  const mounts = [...spec.mounts, { host: runDir, guest: GUEST_RUN_DIR, writable: true }];
  return { ...spec, argv, mounts, keepNamespaceRights: true };
}

/** The zygote's own limits: it outlives many calls, and the threads of its children count towards it. */
function zygoteGrant(grant: Grant): Grant {
  const own = { timeout: FOREVER_MS, cpu: FOREVER_MS, memory: 512 * MIB, processes: 2048 };
  return { ...grant, limits: { ...grant.limits, ...own } };
}

function writesOutside(grant: Grant): boolean {
  return grant.filesystem.some((path) => path.access === 'read-write');
}

function exitOf({ code, signal: signalNumber }: Unchecked<ZygoteFrames['exit']>): ExitInfo {
  const signal = Number(signalNumber);
  return { code: signal ? 128 + signal : Number(code), signal: null };
}
