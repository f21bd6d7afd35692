/**
 * The streams of a cell whose backend cannot pass descriptors. Its harness fetches them from a socket, which is removed
 * before any skill code runs.
 *
 * @module
 */
import { chownSync, chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex, PassThrough, type Readable } from 'node:stream';
import type { Mount } from '../../contract.ts';
import { makeRunFolder, type RunFolder } from '../../linux/run-folder.ts';

const GUEST_FOLDER = '/run/cell';
/** The first byte of a connection: channel, stdout or stderr. */
const KINDS = ['c', 'o', 'e'] as const;
type Kind = (typeof KINDS)[number];

export class SocketStreams {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly mount: Mount;
  readonly #late = new LateDuplex();
  readonly #printed = new PassThrough();
  readonly #complained = new PassThrough();
  readonly #server: Server;
  readonly #waiting = new Set<Kind>(KINDS);
  readonly #run: RunFolder;
  readonly #folder: string;

  /** Listens when it returns; only `uid` may connect. */
  constructor(home: string, uid: number | undefined) {
    this.channel = this.#late;
    this.logs = [this.#printed, this.#complained];
    this.#run = makeRunFolder(home);
    this.#folder = this.#run.path;
    this.mount = { host: this.#folder, guest: GUEST_FOLDER };
    this.#server = createServer((socket) => this.#onConnection(socket));
    this.#server.on('error', () => undefined);
    const path = join(this.#folder, 'socket');
    this.#server.listen(path);
    chmodSync(path, 0o600);
    if (uid !== undefined) chownSync(path, uid, uid);
  }

  /** Stops accepting connections and ends the open streams. */
  close(): void {
    this.#stopListening();
    this.#late.end();
    if (this.#waiting.has('c')) this.#late.push(null);
    if (this.#waiting.has('o')) this.#printed.end();
    if (this.#waiting.has('e')) this.#complained.end();
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      const kind = String(socket.read(1)) as Kind;
      if (!this.#waiting.delete(kind)) {
        socket.destroy();
        return;
      }
      if (kind === 'c') this.#late.bind(socket);
      else socket.pipe(kind === 'o' ? this.#printed : this.#complained);
      if (this.#waiting.size === 0) this.#stopListening();
    });
  }

  #stopListening(): void {
    this.#server.close();
    rmSync(join(this.#folder, 'socket'), { force: true });
    // The container keeps its mount of the folder.
    this.#run.remove();
  }
}

/** A stream that can be used before its socket is connected. */
class LateDuplex extends Duplex {
  #socket: Socket | undefined;
  #onBound: (() => void) | undefined;

  bind(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.push(chunk));
    socket.once('end', () => this.push(null));
    socket.once('close', () => this.readableEnded || this.push(null));
    this.#onBound?.();
  }

  override _read(): void {
    // Data is pushed as it arrives; the reader limits the size of frames.
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void {
    const write = (): void => {
      this.#socket?.write(chunk, encoding, () => done());
    };
    if (this.#socket) write();
    else this.#onBound = write;
  }

  override _final(done: () => void): void {
    this.#socket?.end();
    done();
  }
}
