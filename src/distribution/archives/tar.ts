/**
 * Reads a tar archive from a stream into a set of files. Stricter than the reader of images: whatever two programs could
 * read in different ways is refused.
 *
 * @module
 */
import { BLOCK, decodeHeader, type TarHeader } from '../../cell/images/tar-header.ts';
import { ChunkReader, type ByteStream } from './chunks.ts';
import type { FileSet } from './file-set.ts';
import { parsePax, paxProblem } from './pax.ts';

const MAX_EXTENDED_BYTES = 64 * 1024;

const REFUSED_TYPES: Readonly<Record<string, string>> = {
  '1': 'it is a hard link',
  '2': 'it is a symbolic link',
  '3': 'it is a device',
  '4': 'it is a device',
  '6': 'it is a named pipe',
  S: 'it is a sparse file',
  M: 'it is the rest of a file from another archive',
};

export interface TarFacts {
  /** The comment of the whole archive, in which git writes the commit. */
  comment?: string | undefined;
}

/** Reads everything to the end, so that a compressed stream is verified as well. */
export async function readTarInto(set: FileSet, chunks: ByteStream): Promise<TarFacts> {
  const reader = new ChunkReader(chunks);
  try {
    return await new TarStream(set, reader).read();
  } finally {
    await reader.close();
  }
}

class TarStream {
  readonly #set: FileSet;
  readonly #reader: ChunkReader;
  #longName: Buffer | undefined;
  #size: string | undefined;
  #comment: string | undefined;

  constructor(set: FileSet, reader: ChunkReader) {
    this.#set = set;
    this.#reader = reader;
  }

  async read(): Promise<TarFacts> {
    for (;;) {
      const block = await this.#reader.read(BLOCK);
      if (block.length < BLOCK) throw this.#set.refusal('it is damaged or ends early');
      if (isEmpty(block)) break;
      const header = decodeHeader(block);
      if (!header) throw this.#set.refusal('it is not a valid tar archive');
      this.#set.countEntry();
      await this.#readEntry(header);
    }
    if (this.#longName !== undefined || this.#size !== undefined)
      throw this.#set.refusal('it ends with the description of an entry that is not there');
    await this.#readEnd();
    return { comment: this.#comment };
  }

  async #readEntry(header: TarHeader): Promise<void> {
    if ('xgLK'.includes(header.type)) return this.#readExtended(header);
    const name = this.#longName ?? Buffer.from(header.name, 'latin1');
    if (this.#size !== undefined && this.#size !== String(header.size))
      throw this.#set.refusal('it has two different sizes', name.toString('utf8'));
    this.#longName = undefined;
    this.#size = undefined;
    if (header.type === '0') return this.#readFile(name, header.size);
    if (header.type === '5') {
      if (header.size !== 0) throw this.#set.refusal('it is a folder with content', name.toString('utf8'));
      return this.#set.addFolder(name);
    }
    this.#set.refuseEntry(name, REFUSED_TYPES[header.type] ?? 'it is neither a file nor a folder');
    // Programs disagree whether such an entry has content.
    if (header.size !== 0) throw this.#set.refusal('it is a link with content', name.toString('utf8'));
  }

  async #readFile(name: Buffer, size: number): Promise<void> {
    const path = this.#set.claim(name, size);
    if (path === undefined) return this.#skip(size);
    const bytes = await this.#reader.read(size);
    if (bytes.length < size) throw this.#set.refusal('it ends within this file', path);
    this.#set.put(path, bytes);
    await this.#skipPadding(size);
  }

  async #skip(size: number): Promise<void> {
    if ((await this.#reader.skip(size)) < size) throw this.#set.refusal('it ends within a file');
    await this.#skipPadding(size);
  }

  async #skipPadding(size: number): Promise<void> {
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if ((await this.#reader.skip(padding)) < padding) throw this.#set.refusal('it ends within a file');
  }

  async #readExtended({ type, size }: TarHeader): Promise<void> {
    if (size > MAX_EXTENDED_BYTES) throw this.#set.refusal('it has an extended header that is too long');
    const bytes = await this.#reader.read(size);
    if (bytes.length < size) throw this.#set.refusal('it ends within an extended header');
    await this.#skipPadding(size);
    if (type === 'L') return this.#setName(withoutZero(bytes));
    // The target of a link, which is refused anyway.
    if (type === 'K') return;
    const records = parsePax(bytes);
    const problem =
      typeof records === 'string' ? records : paxProblem(records, type === 'g' ? 'all' : 'next');
    if (typeof records === 'string' || problem !== undefined) throw this.#set.refusal(problem ?? '');
    const [path, length, comment] = ['path', 'size', 'comment'].map((key) => records.get(key));
    if (path) this.#setName(path);
    if (length) this.#size = length.toString('latin1');
    if (comment && type === 'g') this.#comment ??= comment.toString('utf8');
  }

  #setName(name: Buffer): void {
    if (this.#longName !== undefined) throw this.#set.refusal('it has two names for one entry');
    if (name.includes(0)) throw this.#set.refusal('it has a name with a zero byte');
    this.#longName = name;
  }

  /** Everything after the end mark has to be padding: some programs read on. */
  async #readEnd(): Promise<void> {
    for await (const chunk of this.#reader.rest())
      if (!isEmpty(chunk)) throw this.#set.refusal('it has other bytes after its end');
  }
}

function withoutZero(bytes: Buffer): Buffer {
  return bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes;
}

const ZEROS: Buffer = Buffer.alloc(64 * 1024);

function isEmpty(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length);
    if (!part.equals(ZEROS.subarray(0, part.length))) return false;
  }
  return true;
}
