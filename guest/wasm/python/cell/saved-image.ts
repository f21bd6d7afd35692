/**
 * The image of a skill as stored between processes: the pages that differ from the base image. It came from the memory of
 * a guest, and the host stored it without reading it; whatever it contains, it is only ever used as the memory of the same
 * skill.
 *
 * Layout: u8 whether the rest is compressed; u32 length of the JSON, the JSON, u32 for each page, the pages.
 *
 * @module
 */
import type * as Zlib from 'node:zlib';
import type { CellEvent } from '../../cell/channel.ts';
import { PAGE_BYTES, type Image } from '../engine/interpreter.ts';
import { ChangedPages, STORED_PAGE_BYTES } from '../../imaged/stored.ts';

const WORD_BYTES = 4;
const PLAIN = 0;
const COMPRESSED = 1;
/** Reading this much takes less time than loading the library that decompresses it. */
const MAX_PLAIN_BYTES = 2 * 1024 * 1024;
const FASTEST = 1;

/** Output of the module body from before the first call. */
export interface BodyOutput {
  logs: Uint8Array[];
  denials: CellEvent[];
}

/** An image that many calls start from, and the output of the module body while it was made. */
export interface SkillImage {
  image: Image & { memory: ChangedPages };
  bodyOutput: BodyOutput;
}

interface Head {
  /** Digest of the base image. */
  base: string;
  bytes: number;
  pages: number;
  logs: string[];
  denials: CellEvent[];
}

export interface SavedImageOptions {
  base: Image;
  /** Digest of the base image. */
  baseDigest: string;
  /** Maximum memory of the skill. */
  maxBytes: number;
}

export function encodeImage({ image, bodyOutput }: SkillImage, { baseDigest }: SavedImageOptions): Buffer {
  const { pages, length } = image.memory;
  const head: Head = {
    base: baseDigest,
    bytes: length,
    pages: pages.size,
    logs: bodyOutput.logs.map((bytes) => Buffer.from(bytes).toString('base64')),
    denials: bodyOutput.denials,
  };
  const text = Buffer.from(JSON.stringify(head));
  const numbers = Buffer.alloc(WORD_BYTES * (pages.size + 1));
  numbers.writeUInt32LE(text.length);
  [...pages.keys()].forEach((address, at) =>
    numbers.writeUInt32LE(address / STORED_PAGE_BYTES, WORD_BYTES * (at + 1)),
  );
  const rest = Buffer.concat([
    numbers.subarray(0, WORD_BYTES),
    text,
    numbers.subarray(WORD_BYTES),
    ...pages.values(),
  ]);
  if (rest.length <= MAX_PLAIN_BYTES) return Buffer.concat([Buffer.of(PLAIN), rest]);
  const { constants, zstdCompressSync } = zlib();
  const packed = zstdCompressSync(rest, { params: { [constants.ZSTD_c_compressionLevel]: FASTEST } });
  return Buffer.concat([Buffer.of(COMPRESSED), packed]);
}

/** Undefined if it was made for another base image. */
export function decodeImage(saved: Buffer, options: SavedImageOptions): SkillImage | undefined {
  const rest = unpacked(saved, options);
  const textEnd = WORD_BYTES + rest.readUInt32LE(0);
  const head = JSON.parse(rest.toString('utf8', WORD_BYTES, textEnd)) as Head;
  const isFor =
    head.base === options.baseDigest &&
    head.bytes >= options.base.memory.length &&
    head.bytes <= options.maxBytes &&
    head.bytes % PAGE_BYTES === 0;
  if (!isFor) return undefined;
  const pages = readPages(rest.subarray(textEnd), head);
  return {
    image: {
      memory: new ChangedPages(options.base.memory, pages, head.bytes),
      stackPointer: options.base.stackPointer,
    },
    bodyOutput: {
      logs: head.logs.map((text) => new Uint8Array(Buffer.from(text, 'base64'))),
      denials: head.denials,
    },
  };
}

function unpacked(saved: Buffer, { maxBytes }: SavedImageOptions): Buffer {
  const rest = saved.subarray(1);
  return saved[0] === PLAIN ? rest : zlib().zstdDecompressSync(rest, { maxOutputLength: 2 * maxBytes });
}

function readPages(body: Buffer, { pages: count, bytes }: Head): Map<number, Uint8Array> {
  const contents = body.subarray(WORD_BYTES * count);
  const pages = new Map<number, Uint8Array>();
  for (let at = 0; at < count; at++) {
    const address = body.readUInt32LE(WORD_BYTES * at) * STORED_PAGE_BYTES;
    const page = contents.subarray(at * STORED_PAGE_BYTES, (at + 1) * STORED_PAGE_BYTES);
    if (address >= bytes || page.length < STORED_PAGE_BYTES)
      throw new RangeError('A page is outside the image');
    pages.set(address, page);
  }
  return pages;
}

/** Loaded only if needed: it takes a new process several milliseconds. */
function zlib(): typeof Zlib {
  return process.getBuiltinModule('node:zlib');
}
