/**
 * Files as a skill reads them: by path, from the bundle and from granted folders. The broker walks the path itself;
 * paths outside all grants are refused here, and reported.
 *
 * @module
 */
import { posix } from 'node:path';
import { GuestEnd } from '../../contract.ts';
import { BrokerError, type FileStat, type Listing, type Preopen } from '../../wasi/broker-client.ts';
import type { Call } from '../../wasi/call.ts';

const HOME = '/skill';
const CHUNK_BYTES = 1 << 20;
const MAX_SHOWN = 200;
const FLAGS = {
  create: false,
  exclusive: false,
  truncate: false,
  read: true,
  write: false,
  followLast: false,
};

/** An operation that the grant does not cover. */
export class Denied extends Error {
  readonly capability: string;
  readonly asked: string;
  readonly declared: string;

  constructor(capability: string, asked: string, declared: string) {
    super(`Skillcell denied: ${asked} (${declared})`);
    this.capability = capability;
    this.asked = asked;
    this.declared = declared;
  }
}

export interface FoundFile {
  name: string;
  type: 'file' | 'directory' | 'other';
}

export class Files {
  readonly #call: Call;
  readonly #maxBytes: number;

  /** `maxBytes`: maximum size of a file. */
  constructor(call: Call, maxBytes: number) {
    this.#call = call;
    this.#maxBytes = maxBytes;
  }

  async read(path: string): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    await this.#withFile(path, false, async (file) => {
      for (;;) {
        const { bytes } = await this.#call.request('read', { file, offset: length, length: CHUNK_BYTES });
        if (!bytes || bytes.length === 0) return;
        length += bytes.length;
        if (length > this.#maxBytes) throw new GuestEnd('limit', 'memory');
        chunks.push(bytes);
      }
    });
    return Buffer.concat(chunks, length);
  }

  async list(path: string): Promise<FoundFile[]> {
    let found: FoundFile[] = [];
    await this.#withFile(path, true, async (file) => {
      const { value } = await this.#call.request('readDir', { file });
      const { entries } = value as unknown as Listing;
      found = entries.map(({ name, type }) => ({ name, type: typeOf(type) }));
    });
    return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async stat(path: string): Promise<{ type: FoundFile['type']; size: number; modified: number }> {
    const { value } = await this.#call.request('statAt', { ...this.#place(path), followLast: false });
    const { type, size, modified } = value as unknown as FileStat;
    return { type: typeOf(type), size, modified: Number(BigInt(modified) / 1_000_000n) };
  }

  async #withFile(path: string, directory: boolean, use: (file: number) => Promise<void>): Promise<void> {
    const { value } = await this.#call.request('open', {
      ...this.#place(path),
      flags: { ...FLAGS, directory },
    });
    const file = Number(value['file']);
    try {
      if (!directory && value['type'] === 'directory') throw new BrokerError('isdir');
      await use(file);
    } finally {
      this.#call.notify('close', { file });
    }
  }

  #place(path: string): { dir: number; path: string[] } {
    if (path.includes('\0')) throw new BrokerError('inval');
    const full = posix.resolve(HOME, path);
    const preopen = nearest(full, this.#call.preopens);
    if (!preopen) throw this.#denied(`read ${short(full)}`);
    const below = full.slice(preopen.guestPath.length).split('/').filter(Boolean);
    return { dir: preopen.id, path: below };
  }

  #denied(asked: string): Denied {
    this.#call.options.onDenied?.('filesystem', asked, 'not granted');
    return new Denied('filesystem', asked, 'not granted');
  }
}

/** The deepest granted folder that contains the path. */
function nearest(full: string, preopens: readonly Preopen[]): Preopen | undefined {
  const holders = preopens.filter(
    ({ guestPath }) => full === guestPath || full.startsWith(`${guestPath.replace(/\/$/, '')}/`),
  );
  return holders.toSorted((one, other) => other.guestPath.length - one.guestPath.length)[0];
}

function typeOf(type: string): FoundFile['type'] {
  if (type === 'regular-file') return 'file';
  return type === 'directory' ? 'directory' : 'other';
}

/** Shown as the Python harness shows it. */
function short(text: string): string {
  const clean = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return clean.length <= MAX_SHOWN ? clean : `${clean.slice(0, MAX_SHOWN - 3)}...`;
}
