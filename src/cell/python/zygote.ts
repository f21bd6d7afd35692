/**
 * The host's side of a Python zygote: it connects, the zygote forks, and the fork is a cell like any other.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { hasGateway, type Grant } from '../../policy/grant.ts';
import type { Artifact, CellProcess, ExitInfo, LaunchSpec, Zygote } from '../contract.ts';
import { encodeFrame, readFrames, type GuestFrame } from '../frames.ts';
import type { JailProcess } from '../jail/process.ts';
import type { JailWall } from '../jail/wall.ts';
import { withGateway } from '../native-cell.ts';
import { makeRunFolder, type RunFolder } from '../run-folder.ts';
import { confined } from '../session.ts';
import { BirthGroup } from './birth-group.ts';
import { ForkedProcess } from './forked-process.ts';

const GUEST_RUN_DIR = '/run/zygote';
const MIB = 1024 * 1024;
const ID_BYTES = 16;
const FOREVER_MS = 3_600_000;
const FRAME_LIMITS = { maxBytes: 4096, maxFrames: 1_000_000 };

export interface PythonZygoteOptions {
  home: string;
  wall: JailWall;
  artifact: Artifact;
  grant: Grant;
}

export class PythonZygote implements Zygote {
  readonly ready: Promise<boolean>;
  readonly #options: PythonZygoteOptions;
  readonly #run: RunFolder;
  readonly #runDir: string;
  readonly #jailed: JailProcess;
  readonly #forks = new Map<string, ForkedProcess>();
  readonly #births: BirthGroup;
  #settleReady!: (ready: boolean) => void;
  #listening = false;
  #closing = false;
  #ended = false;

  constructor(options: PythonZygoteOptions) {
    this.#options = options;
    const { wall, home, artifact, grant } = options;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    this.#run = makeRunDir(home, wall.identity(grant)?.uid);
    this.#runDir = this.#run.path;
    const spec = zygoteSpec(artifact.spec(grant), this.#runDir);
    this.#births = new BirthGroup({
      makeCgroup: () => wall.cgroupFor(grant),
      zygotePid: () => this.#jailed.innerPid,
    });
    this.#jailed = wall.launch(
      hasGateway(grant) ? withGateway(spec, this.#emptyFolder()) : spec,
      zygoteGrant(grant),
    );
    // Its own words only matter while starting, and then the fallback is a cold start.
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
    return this.#listening && !this.#closing && !this.#ended;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  gatewayFolder(): string {
    return join(this.#runDir, randomBytes(ID_BYTES).toString('hex'));
  }

  /** A fork has the name of its gateway's folder, which is how it finds it. */
  async fork(gatewayFolder: string = this.gatewayFolder()): Promise<CellProcess> {
    const name = basename(gatewayFolder);
    const id = Buffer.from(name, 'hex');
    const { wall, grant } = this.#options;
    const fork = new ForkedProcess({
      channel: connect(join(this.#runDir, 'socket')),
      log: connect(join(this.#runDir, 'socket')),
      grant,
      siblings: () => [...this.#births.members(), ...this.#jailed.members()],
      adopt: (pid) => this.#births.adopt(pid),
      makeCgroup: () => wall.cgroupFor(grant),
      end: () => this.#send({ t: 'kill', id: name }),
      endAll: () => this.#end(),
    });
    // Known before the zygote can speak of it.
    this.#forks.set(name, fork);
    try {
      await Promise.all([introduce(fork.channel, 'c', id), introduce(fork.logs[0], 'l', id)]);
      if (this.#ended) throw new Error('The zygote has ended');
    } catch (error) {
      this.#onForkExit(name, { code: null, signal: 'SIGKILL' });
      throw error;
    }
    return fork;
  }

  /** Takes no more calls, and ends when those that it serves have. */
  close(): void {
    this.#closing = true;
    this.#endWhenIdle();
  }

  /** What a fork puts its gateway's folder in place of. */
  #emptyFolder(): string {
    const folder = join(this.#runDir, 'gateway');
    mkdirSync(folder, { mode: 0o711 });
    return folder;
  }

  #endWhenIdle(): void {
    if (this.#closing && this.#forks.size === 0) this.#end();
  }

  /** Ends it, and every fork with it. */
  #end(): void {
    this.#jailed.kill('done');
  }

  #onFrame({ body }: GuestFrame): void {
    if (body['t'] === 'ready') return unattended(this.#onStarted(), () => this.#end());
    if (body['t'] === 'listening') {
      this.#listening = true;
      unattended(
        this.#births.prepare().then(() => this.#settleReady(true)),
        () => this.#end(),
      );
      return undefined;
    }
    const name = String(body['id']);
    if (body['t'] === 'forked') return this.#forks.get(name)?.onForked(body['pid']);
    const signal = Number(body['signal']);
    return this.#onForkExit(name, { code: signal ? 128 + signal : Number(body['code']), signal: null });
  }

  #onForkExit(name: string, exit: ExitInfo): void {
    this.#forks.get(name)?.onExit(exit);
    this.#forks.delete(name);
    this.#endWhenIdle();
  }

  async #onStarted(): Promise<void> {
    if (!(await confined(this.#jailed, {}))) return this.#end();
    const { wall, grant, artifact } = this.#options;
    const { memory, cpu, scratch } = grant.limits;
    const files = Object.keys(artifact.bundle.files);
    this.#send({
      t: 'init',
      // Names only: which of them a zygote may load ahead is its own list.
      modules: artifact.bundle.inspection.modules.map((finding) => finding.value),
      siblings: files.map((name) => name.split('/')[0]?.replace(/\.py$/, '')),
      limits: { memory, cpu, scratch, file_size: writesOutside(grant) ? 1024 * MIB : scratch },
      masked: wall.masked,
      filter: wall.filter(grant, { gateway: hasGateway(grant) }).toString('hex'),
    });
  }

  #onExit(): void {
    this.#ended = true;
    this.#births.close();
    this.#settleReady(false);
    for (const fork of this.#forks.values()) fork.onExit({ code: null, signal: 'SIGKILL' });
    this.#forks.clear();
    this.#run.remove();
  }

  #send(body: Record<string, unknown>): void {
    if (this.#jailed.channel.writable) this.#jailed.channel.write(encodeFrame(body));
  }
}

/** Says who is calling, once connected. */
export function introduce(stream: Duplex | Readable | undefined, role: 'c' | 'l', id: Buffer): Promise<void> {
  const socket = stream as Socket;
  return new Promise((resolve, reject) => {
    // For good: a zygote that ends now breaks the write below, and an error that nobody hears ends the host.
    socket.on('error', reject);
    socket.once('connect', () => {
      socket.write(Buffer.concat([Buffer.from(role), id]));
      resolve();
    });
  });
}

export function makeRunDir(home: string, uid: number | undefined): RunFolder {
  const folder = makeRunFolder(home);
  if (uid !== undefined) chownSync(folder.path, uid, -1);
  return folder;
}

export function zygoteSpec(spec: LaunchSpec, runDir: string): LaunchSpec {
  const argv = spec.argv.map((arg) => (arg === '/harness/main.py' ? '/harness/zygote.py' : arg));
  const mounts = [...spec.mounts, { host: runDir, guest: GUEST_RUN_DIR, writable: true }];
  return { ...spec, argv, mounts, keepNamespaceRights: true };
}

/** The zygote's own limits: it outlives many calls, and the threads of all its children count as its own. */
function zygoteGrant(grant: Grant): Grant {
  const own = { timeout: FOREVER_MS, cpu: FOREVER_MS, memory: 512 * MIB, processes: 2048 };
  return { ...grant, limits: { ...grant.limits, ...own } };
}

export function writesOutside(grant: Grant): boolean {
  return grant.filesystem.some((path) => path.access === 'read-write');
}
