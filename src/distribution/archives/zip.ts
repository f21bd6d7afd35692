/**
 * Reads a zip file into a set of files. The library finds the entries; what it leaves open (whether the headers agree, what
 * lies between entries, checksums) is checked here, before anything is decompressed.
 *
 * @module
 */
import { promisify } from 'node:util';
import { crc32, inflateRaw, type InflateRaw, type InputType, type ZlibOptions } from 'node:zlib';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { SkillError } from '../../errors.ts';
import { shortLine } from '../../manifest/quote.ts';
import type { FileSet } from './file-set.ts';
import { entryProblem, isFolderEntry, layoutProblem, type ZipPart } from './zip-layout.ts';

/** With `info`, the result also says how much of the input was used. */
const inflate = promisify(inflateRaw) as unknown as (
  input: InputType,
  options: ZlibOptions,
) => Promise<{ buffer: Buffer; engine: InflateRaw }>;

export async function readZipInto(set: FileSet, bytes: Buffer): Promise<void> {
  try {
    const options = { lazyEntries: true, decodeStrings: false, autoClose: false };
    const zip = await fromBufferPromise(bytes, options);
    const parts = await listParts(set, zip);
    const problem = layoutProblem(bytes, zip.comment as unknown as Buffer, parts);
    if (problem !== undefined) throw set.refusal(problem);
    const claimed = parts.map((part) => ({ part, path: claim(set, part) }));
    for (const { part, path } of claimed) {
      if (path === undefined) continue;
      const refuse: Refuse = (reason, why) => set.refusal(reason, path, why);
      set.put(path, await unpack(bytes, part, refuse));
    }
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw set.refusal(
      `it is not a valid zip file (${shortLine((cause as Error).message)})`,
      undefined,
      cause,
    );
  }
}

async function listParts(set: FileSet, zip: ZipFile): Promise<ZipPart[]> {
  const parts: ZipPart[] = [];
  for await (const entry of zip.eachEntry()) {
    set.countEntry();
    const local = await zip.readLocalFileHeaderPromise(entry);
    const problem = entryProblem(entry, local);
    if (problem !== undefined) throw set.refusal(problem, entry.fileNameRaw.toString('utf8'));
    const dataEnd = local.fileDataStart + entry.compressedSize;
    parts.push({ entry, local, start: entry.relativeOffsetOfLocalHeader, dataEnd });
  }
  return parts;
}

function claim(set: FileSet, { entry }: ZipPart): string | undefined {
  if (isFolderEntry(entry)) set.addFolder(entry.fileNameRaw);
  else return set.claim(entry.fileNameRaw, entry.uncompressedSize);
  return undefined;
}

type Refuse = (reason: string, cause?: unknown) => Error;

async function unpack(zip: Buffer, part: ZipPart, refuse: Refuse): Promise<Buffer> {
  const { entry, local, dataEnd } = part;
  const packed = zip.subarray(local.fileDataStart, dataEnd);
  const content = entry.compressionMethod === 0 ? Buffer.from(packed) : await inflated(packed, entry, refuse);
  if (content.length !== entry.uncompressedSize) throw refuse(OTHER_SIZE);
  if (crc32(content) !== entry.crc32) throw refuse('it is damaged: its checksum is wrong');
  return content;
}

const OTHER_SIZE = 'it has another size than it says';

async function inflated(packed: Buffer, entry: Entry, refuse: Refuse): Promise<Buffer> {
  try {
    const maxOutputLength = Math.max(1, entry.uncompressedSize);
    const { buffer, engine } = await inflate(packed, { maxOutputLength, info: true });
    if (engine.bytesWritten !== packed.length) throw refuse('it has other bytes after the compressed data');
    return buffer;
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    const isOver = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw refuse(
      isOver ? OTHER_SIZE : `it cannot be decompressed (${shortLine((cause as Error).message)})`,
      cause,
    );
  }
}
