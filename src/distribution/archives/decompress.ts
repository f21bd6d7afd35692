/**
 * Decompresses gzip and zstd as a stream. The work is done by the threads of libuv, a chunk at a time, and stops at the cap.
 *
 * @module
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { SkillError } from '../../errors.ts';
import { shortLine } from '../../manifest/quote.ts';
import { capped, type ByteStream } from './chunks.ts';

export type Compression = 'gzip' | 'zstd';

const UNPACKERS = { gzip: createGunzip, zstd: createZstdDecompress } as const;

export interface DecompressOptions {
  compression: Compression;
  /** Most bytes after decompression. */
  most: number;
  refusal: (reason: string, cause?: unknown) => Error;
}

export async function* decompress(packed: ByteStream, options: DecompressOptions): AsyncGenerator<Buffer> {
  const { compression, most, refusal } = options;
  const unpacker = UNPACKERS[compression]();
  let fed = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of packed) {
      fed += chunk.length;
      yield chunk;
    }
  };
  const feeding = pipeline(Readable.from(counted(), { objectMode: false }), unpacker);
  // The loop below reports the same error.
  feeding.catch(() => undefined);
  try {
    yield* capped(unpacker as AsyncIterable<Buffer>, most, () =>
      refusal(`it has more than ${most} bytes after decompression`),
    );
    await feeding;
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw refusal(`it cannot be decompressed (${shortLine((cause as Error).message)})`, cause);
  } finally {
    unpacker.destroy();
  }
  // Other programs may read on where this one stops.
  if (unpacker.bytesWritten !== fed) throw refusal('it has other bytes after the compressed data');
}
