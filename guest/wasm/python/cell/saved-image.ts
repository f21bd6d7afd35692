/**
 * The image of a skill as stored between processes: the pages that differ from the base image. It came from the memory of
 * a guest, and the host stored it without reading it, so it is checked again here. Whatever it contains, it is only ever
 * used as the memory of the same skill.
 *
 * Layout: sha256 of the rest; compressed: u32 length of the JSON, the JSON, u32 for each page, the pages.
 *
 * @module
 */
import type { CellEvent } from '../../cell/channel.ts';
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { PAGE_BYTES, type Image } from '../engine/interpreter.ts';

/** Smaller than Wasm pages, most of which stay unchanged. */
const DELTA_BYTES = 4096;
const DIGEST_BYTES = 32;
const WORD_BYTES = 4;
const FASTEST = 1;

/** Output of the module body from before the first call. */
export interface BodyOutput {
  logs: Uint8Array[];
  denials: CellEvent[];
}

/** An image that many calls start from, and the output of the module body while it was made. */
export interface SkillImage {
  image: Image;
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
  /** Whether decoding may write into the base image, which nothing uses afterwards. */
  overwritesBase: boolean;
  /** Digest of the base image. */
  baseDigest: string;
  /** Maximum memory of the skill. */
  maxBytes: number;
}

export function encodeImage({ image, bodyOutput }: SkillImage, options: SavedImageOptions): Buffer {
  const { memory } = image;
  const pages = changedPages(memory, options.base.memory);
  const head: Head = {
    base: options.baseDigest,
    bytes: memory.length,
    pages: pages.length,
    logs: bodyOutput.logs.map((bytes) => Buffer.from(bytes).toString('base64')),
    denials: bodyOutput.denials,
  };
  const text = Buffer.from(JSON.stringify(head));
  const numbers = Buffer.alloc(WORD_BYTES * (pages.length + 1));
  numbers.writeUInt32LE(text.length);
  pages.forEach((page, at) => numbers.writeUInt32LE(page, WORD_BYTES * (at + 1)));
  const contents = pages.map((page) => memory.subarray(page * DELTA_BYTES, (page + 1) * DELTA_BYTES));
  const rest = Buffer.concat([
    numbers.subarray(0, WORD_BYTES),
    text,
    numbers.subarray(WORD_BYTES),
    ...contents,
  ]);
  const packed = zstdCompressSync(rest, { params: { [constants.ZSTD_c_compressionLevel]: FASTEST } });
  return Buffer.concat([digestOf(packed), packed]);
}

/** Undefined if it is damaged or was made for another base image. */
export function decodeImage(saved: Buffer, options: SavedImageOptions): SkillImage | undefined {
  const packed = saved.subarray(DIGEST_BYTES);
  if (!digestOf(packed).equals(saved.subarray(0, DIGEST_BYTES))) return undefined;
  const rest = zstdDecompressSync(packed, { maxOutputLength: 2 * options.maxBytes });
  const textEnd = WORD_BYTES + rest.readUInt32LE(0);
  const head = JSON.parse(rest.toString('utf8', WORD_BYTES, textEnd)) as Head;
  const isFor =
    head.base === options.baseDigest &&
    head.bytes >= options.base.memory.length &&
    head.bytes <= options.maxBytes &&
    head.bytes % PAGE_BYTES === 0;
  if (!isFor) return undefined;
  const memory = copyOf(options, head.bytes);
  layPages(memory, rest.subarray(textEnd), head.pages);
  return {
    image: { memory, stackPointer: options.base.stackPointer },
    bodyOutput: {
      logs: head.logs.map((text) => new Uint8Array(Buffer.from(text, 'base64'))),
      denials: head.denials,
    },
  };
}

/** The base image with room for the skill; the image itself if it may be overwritten and is large enough. */
function copyOf({ base, overwritesBase }: SavedImageOptions, bytes: number): Uint8Array {
  if (overwritesBase && bytes === base.memory.length) return base.memory;
  const memory = new Uint8Array(bytes);
  memory.set(base.memory);
  return memory;
}

function layPages(memory: Uint8Array, body: Buffer, count: number): void {
  const contents = body.subarray(WORD_BYTES * count);
  for (let at = 0; at < count; at++) {
    const page = body.readUInt32LE(WORD_BYTES * at);
    // Throws for a page outside the memory.
    memory.set(contents.subarray(at * DELTA_BYTES, (at + 1) * DELTA_BYTES), page * DELTA_BYTES);
  }
}

function changedPages(memory: Uint8Array, base: Uint8Array): number[] {
  const zeros = new Uint8Array(DELTA_BYTES);
  const changed: number[] = [];
  for (let page = 0; page * DELTA_BYTES < memory.length; page++) {
    const [start, end] = [page * DELTA_BYTES, (page + 1) * DELTA_BYTES];
    const before = end <= base.length ? base.subarray(start, end) : zeros;
    if (Buffer.compare(memory.subarray(start, end), before) !== 0) changed.push(page);
  }
  return changed;
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
