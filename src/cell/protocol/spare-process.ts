/**
 * A process that started before it is known which skill it will run. It is confined and waits; no byte of a skill has
 * entered it. It becomes the process of one skill, for good, or ends.
 *
 * @module
 */
import { join } from 'node:path';
import { chmodSync, mkdirSync } from 'node:fs';
import { unattended } from '../../errors.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, LaunchSpec, Wall } from '../contract.ts';
import { makeRunFolder, type RunFolder } from '../linux/run-folder.ts';
import { reusableKind } from './frame-kinds.ts';
import { readFrames, type GuestFrame } from './frames.ts';
import { tryConfine } from './session.ts';

const FRAME_LIMITS = { maxBytes: 4096, maxFrames: 1 };
/** Several times what a start takes on a busy machine. */
const START_MS = 10_000;

export interface SpareOptions {
  home: string;
  wall: Wall;
  /** The launch spec, with mounts of folders in `place`. */
  spec: (place: string) => LaunchSpec;
  /** What the process may do, whatever its skill. */
  grant: Grant;
}

export class SpareProcess {
  /** Resolves to true when it waits for its skill, to false if it ended before. Never rejects. */
  readonly ready: Promise<boolean>;
  readonly #process: CellProcess;
  readonly #folder: RunFolder;
  readonly #stopReading: () => void;
  readonly #deadline: NodeJS.Timeout;
  #isWaiting = false;
  #hasEnded = false;
  #settleReady!: (ready: boolean) => void;

  private constructor(process: CellProcess, folder: RunFolder) {
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    this.#process = process;
    this.#folder = folder;
    this.#process.channel.on('error', () => undefined);
    this.#stopReading = readFrames(this.#process.channel, FRAME_LIMITS, {
      onFrame: (frame) => unattended(this.#onFrame(frame), () => this.close()),
      onFault: () => this.close(),
      onThrown: () => this.close(),
    });
    this.#deadline = setTimeout(() => this.close(), START_MS).unref();
    unattended(this.#process.exited.then(() => this.#onExit()));
  }

  /** Undefined if no process can be started now, for example because the disk is full: no call waits for this one. */
  static start({ home, wall, spec, grant }: SpareOptions): SpareProcess | undefined {
    let folder: RunFolder | undefined;
    try {
      folder = makeRunFolder(home);
      const launch = spec(folder.path);
      for (const { host } of launch.mounts) if (isInside(host, folder.path)) openFolder(host);
      return new SpareProcess(wall.launch(launch, grant), folder);
    } catch {
      folder?.remove();
      return undefined;
    }
  }

  /** Whether it can get a skill now. */
  get isWaiting(): boolean {
    return this.#isWaiting && this.#process.killReason === undefined;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Memory that it holds. */
  get bytes(): number {
    return this.#process.privateBytes?.() ?? 0;
  }

  /** Puts the files of its skill in place, and hands the process over. It must be waiting. */
  become(fill: (place: string) => void): CellProcess {
    this.#isWaiting = false;
    this.#stopReading();
    try {
      fill(this.#folder.path);
    } catch (error) {
      this.close();
      throw error;
    }
    return this.#process;
  }

  close(): void {
    this.#isWaiting = false;
    this.#process.kill('done');
  }

  /** Only one frame is allowed: that it is ready. */
  async #onFrame({ body }: GuestFrame): Promise<void> {
    if (reusableKind(body) !== 'ready' || !(await tryConfine(this.#process))) return this.close();
    clearTimeout(this.#deadline);
    this.#isWaiting = true;
    this.#process.rest?.(true);
    this.#settleReady(true);
  }

  #onExit(): void {
    clearTimeout(this.#deadline);
    this.#isWaiting = false;
    this.#hasEnded = true;
    this.#settleReady(false);
    this.#folder.remove();
  }
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(join(folder, '/'));
}

/** Readable for the user of the cell, regardless of the host's umask. */
function openFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
}
