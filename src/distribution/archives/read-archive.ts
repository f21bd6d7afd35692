/**
 * Reads an untrusted archive into memory: the regular files by path, or a refusal. Nothing is written to disk.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { shortLine } from '../../manifest/quote.ts';
import { capped, collect, fileChunks, inChunks, peek, type ByteStream } from './chunks.ts';
import { decompress, type Compression } from './decompress.ts';
import { FileSet, type FileSetOptions } from './file-set.ts';
import { readTarInto } from './tar.ts';
import { readZipInto } from './zip.ts';

/** Bytes in memory, a file on this machine, or bytes as they arrive. */
export type ArchiveInput = Buffer | { readonly file: string } | ByteStream;

export type ArchiveFormat = 'tar' | 'tar+gzip' | 'tar+zstd' | 'zip';

export interface ReadArchiveOptions extends FileSetOptions {
  /** Names the archive in messages, such as `The archive "demo.zip"`. */
  what: string;
  /** The only format that is accepted. Default: whichever of them it is. */
  format?: ArchiveFormat | undefined;
}

export interface ArchiveContent {
  readonly format: ArchiveFormat;
  /** The regular files. Every path can be joined to a folder. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The comment of a whole tar archive, in which git writes the commit. Nobody has checked it. */
  readonly comment?: string | undefined;
}

const COMPRESSIONS: Readonly<Partial<Record<ArchiveFormat, Compression>>> = {
  'tar+gzip': 'gzip',
  'tar+zstd': 'zstd',
};

/** Where `ustar` stands in the first header of a tar archive. */
const TAR_MAGIC_AT = 257;
const HEAD_BYTES = 512;

/** Throws `manifest_invalid` if anything about the archive is damaged, ambiguous, dangerous or too large. */
export async function readArchive(input: ArchiveInput, options: ReadArchiveOptions): Promise<ArchiveContent> {
  const set = new FileSet(options.what, options);
  const { packedBytes, unpackedBytes } = set.limits;
  const stream = capped(chunksOf(input), packedBytes, () =>
    set.refusal(`it has more than ${packedBytes} bytes`),
  );
  try {
    const { head, all } = await peek(stream, HEAD_BYTES);
    const format = formatOf(head);
    if (format === undefined || (options.format ?? format) !== format)
      throw wrongFormat(set, head, options.format);
    if (format === 'zip') {
      await readZipInto(set, Buffer.isBuffer(input) ? input : await collect(all));
      return { format, files: set.finish() };
    }
    const compression = COMPRESSIONS[format];
    const refusal = (reason: string, cause?: unknown): Error => set.refusal(reason, undefined, cause);
    const plain =
      compression === undefined ? all : decompress(all, { compression, most: unpackedBytes, refusal });
    const { comment } = await readTarInto(set, plain);
    return { format, files: set.finish(), comment };
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw set.refusal(`it cannot be read (${shortLine((cause as Error).message)})`, undefined, cause);
  } finally {
    await stream.return(undefined);
  }
}

/** The format by the first bytes: at least 512, or all there are. */
function formatOf(head: Buffer): ArchiveFormat | undefined {
  if (head.length < 4) return undefined;
  const start = head.readUInt32BE(0);
  if (start >>> 16 === 0x1f8b) return 'tar+gzip';
  if (start === 0x28b5_2ffd) return 'tar+zstd';
  if (start === 0x504b_0304 || start === 0x504b_0506) return 'zip';
  return head.toString('latin1', TAR_MAGIC_AT, TAR_MAGIC_AT + 5) === 'ustar' ? 'tar' : undefined;
}

function chunksOf(input: ArchiveInput): ByteStream {
  if (Buffer.isBuffer(input)) return inChunks(input);
  return 'file' in input ? fileChunks(input.file) : input;
}

function wrongFormat(set: FileSet, head: Buffer, wanted: ArchiveFormat | undefined): Error {
  const isPage = /^\s*</.test(head.toString('latin1'));
  const found = isPage ? 'it is a web page and not an archive' : 'it is not an archive';
  const choices = wanted ?? 'tar, tar+gzip, tar+zstd or zip';
  return set.refusal(formatOf(head) === undefined ? `${found} (${choices})` : `it is not ${choices}`);
}
