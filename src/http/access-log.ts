/**
 * The access log: one JSON line per request. It has no parameters, no query and no tokens, and every field is bounded, so
 * that a client decides only how many lines there are, not how long they are.
 *
 * @module
 */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';

const MAX_PATH = 256;
const MAX_METHOD = 16;
/** Beyond this, lines are dropped: a slow disk must not fill the memory. */
const MAX_UNWRITTEN = 1024 * 1024;

export interface LoggedRequest {
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  ms: number;
  remote: string | undefined;
  tenant?: string | undefined;
  token?: string | undefined;
}

export class AccessLog {
  /** Undefined for stdout. */
  readonly #file: string | undefined;
  readonly #onNote: (text: string) => void;
  #stream: Writable;
  #dropped = 0;

  /** `-` writes to stdout. */
  constructor(file: string, onNote: (text: string) => void) {
    this.#file = file === '-' ? undefined : file;
    this.#onNote = onNote;
    this.#stream = this.#open();
  }

  write(request: LoggedRequest): void {
    if (this.#stream.writableLength > MAX_UNWRITTEN) {
      this.#dropped++;
      return;
    }
    const { method, path, status, ms, remote, tenant, token } = request;
    const line = {
      time: new Date().toISOString(),
      remote,
      method: method.slice(0, MAX_METHOD),
      path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path,
      status,
      ms: Math.round(ms * 1000) / 1000,
      tenant,
      token,
      ...(this.#dropped > 0 ? { dropped: this.#dropped } : {}),
    };
    this.#dropped = 0;
    this.#stream.write(`${JSON.stringify(line)}\n`);
  }

  /** Opens the file again after it was renamed by log rotation. */
  reopen(): void {
    if (this.#file === undefined) return;
    this.#stream.end();
    this.#stream = this.#open();
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    if (this.#file === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#stream.once('error', () => resolve());
      this.#stream.end(() => resolve());
    });
  }

  #open(): Writable {
    if (this.#file === undefined) return process.stdout;
    const stream = createWriteStream(this.#file, { flags: 'a', mode: 0o600 });
    // A full disk must not end the service.
    stream.on('error', (error) => this.#onNote(`warning: Cannot write the access log: ${error.message}`));
    return stream;
  }
}
