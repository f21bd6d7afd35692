/**
 * Whether the parts of a zip file fit together without gaps: entries one after the other from the first byte, each with the
 * same header in both places, then the directory, then the end. Programs that read a zip file from the front and programs
 * that read it from the back then see the same files.
 *
 * @module
 */
import { parseExtraFields, type Entry, type LocalFileHeader } from 'yauzl';

export interface ZipPart {
  entry: Entry;
  local: LocalFileHeader;
  start: number;
  dataEnd: number;
}

const END_BYTES = 22;
const CENTRAL_BYTES = 46;
const DESCRIPTOR = 0x08_07_4b_50;
const ENCRYPTED = 0x1;
const HAS_DESCRIPTOR = 0x8;
const STRONG_ENCRYPTION = 0x40;
const MASKED = 0x2000;
const STORED = 0;
const DEFLATED = 8;
const ZIP64 = 0x0001;
const UNICODE_PATH = 0x7075;
const MAX_32_BITS = 0xff_ff_ff_ff;

/** File types of Unix in the upper half of the attributes. */
const FILE_TYPES: Readonly<Record<number, string>> = {
  0o120000: 'it is a symbolic link',
  0o020000: 'it is a device',
  0o060000: 'it is a device',
  0o010000: 'it is a named pipe',
  0o140000: 'it is a socket',
};
const FOLDER_TYPE = 0o040000;
const FILE_TYPE = 0o100000;
const DOS_FOLDER = 0x10;

export function isFolderEntry({ fileNameRaw }: Entry): boolean {
  return fileNameRaw.at(-1) === 0x2f;
}

/** Why this entry is refused whatever its bytes are; undefined if it is not. */
export function entryProblem(entry: Entry, local: LocalFileHeader): string | undefined {
  const flags = entry.generalPurposeBitFlag;
  if ((flags & (ENCRYPTED | STRONG_ENCRYPTION | MASKED)) !== 0) return 'it is encrypted';
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return 'it is compressed with a method other than deflate';
  return kindProblem(entry) ?? extraProblem(entry, local) ?? headerProblem(entry, local);
}

function kindProblem(entry: Entry): string | undefined {
  const type = (entry.externalFileAttributes >>> 16) & 0o170000;
  const reason = FILE_TYPES[type];
  if (reason !== undefined) return reason;
  if (![0, FOLDER_TYPE, FILE_TYPE].includes(type)) return 'it is neither a file nor a folder';
  const saysFolder =
    type === FOLDER_TYPE || (type === 0 && (entry.externalFileAttributes & DOS_FOLDER) !== 0);
  const isFolder = isFolderEntry(entry);
  if (isFolder && (entry.uncompressedSize !== 0 || type === FILE_TYPE)) return 'it is a folder with content';
  return saysFolder && !isFolder ? 'it is a file and a folder at once' : undefined;
}

/** Zip64 is for archives far over our limits, and programs disagree about it. */
function extraProblem(entry: Entry, local: LocalFileHeader): string | undefined {
  const extra = [...entry.extraFields, ...parseExtraFields(local.extraField)];
  const sizes = [entry.compressedSize, entry.uncompressedSize, entry.relativeOffsetOfLocalHeader];
  if (extra.some(({ id }) => id === ZIP64) || sizes.includes(MAX_32_BITS))
    return 'it has a zip64 header, which a file of this size does not need';
  const named = extra.filter(({ id }) => id === UNICODE_PATH);
  // A version and a checksum come before the name.
  return named.some(({ data }) => !data.subarray(5).equals(entry.fileNameRaw))
    ? 'it has two different names'
    : undefined;
}

function headerProblem(entry: Entry, local: LocalFileHeader): string | undefined {
  if (!local.fileName.equals(entry.fileNameRaw)) return 'it has two different names';
  if (
    local.generalPurposeBitFlag !== entry.generalPurposeBitFlag ||
    local.compressionMethod !== entry.compressionMethod
  )
    return 'its two headers differ';
  const facts = [entry.crc32, entry.compressedSize, entry.uncompressedSize];
  const locals = [local.crc32, local.compressedSize, local.uncompressedSize];
  const isLater = (entry.generalPurposeBitFlag & HAS_DESCRIPTOR) !== 0;
  const differ = locals.some((value, at) => value !== facts[at] && !(isLater && value === 0));
  return differ ? 'its two headers have different sizes or checksums' : undefined;
}

/** Why the parts do not fit together; undefined if they do. */
export function layoutProblem(zip: Buffer, comment: Buffer, parts: readonly ZipPart[]): string | undefined {
  const endStart = zip.length - END_BYTES - comment.length;
  const end = zip.subarray(endStart);
  const [disk, directoryDisk, here, total] = [4, 6, 8, 10].map((at) => end.readUInt16LE(at));
  const directoryBytes = parts.reduce((sum, { entry }) => sum + centralBytes(entry), 0);
  const directoryStart = end.readUInt32LE(16);
  if (disk !== 0 || directoryDisk !== 0) return 'it is one part of several';
  if (here !== parts.length || total !== parts.length || end.readUInt32LE(12) !== directoryBytes)
    return 'its directory is not as long as it says';
  if (directoryStart + directoryBytes !== endStart)
    return 'it has other bytes between its directory and its end';
  const sorted = [...parts].sort((a, b) => a.start - b.start);
  let at = 0;
  for (const [index, part] of sorted.entries()) {
    if (part.start < at) return 'its entries overlap';
    if (part.start > at) return 'it has bytes that belong to no entry';
    const next = sorted[index + 1]?.start ?? directoryStart;
    if (part.dataEnd > next) return 'its entries overlap';
    at = part.dataEnd + descriptorBytes(zip.subarray(part.dataEnd, next), part.entry);
  }
  return at === directoryStart ? undefined : 'it has bytes that belong to no entry';
}

function centralBytes({ fileNameLength, extraFieldLength, fileCommentLength }: Entry): number {
  return CENTRAL_BYTES + fileNameLength + extraFieldLength + fileCommentLength;
}

/** The length of the record after the data, if it repeats the sizes of the directory. */
function descriptorBytes(gap: Buffer, entry: Entry): number {
  if ((entry.generalPurposeBitFlag & HAS_DESCRIPTOR) === 0) return 0;
  const isMarked = gap.length === 16 && gap.readUInt32LE(0) === DESCRIPTOR;
  const record = gap.subarray(isMarked ? 4 : 0);
  if (record.length !== 12) return 0;
  const facts = [entry.crc32, entry.compressedSize, entry.uncompressedSize];
  return facts.every((value, at) => record.readUInt32LE(4 * at) === value) ? gap.length : 0;
}
