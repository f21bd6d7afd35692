/**
 * Content-addressed files. Each is written to a draft, named by the digest of the written bytes, and published atomically.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publishByContent } from '../../load/publish.ts';
import { sweepDrafts } from './drafts.ts';
import { hexOf } from './oci.ts';
import { imageCorrupt, writingFailed } from './problems.ts';

export interface Blob {
  digest: string;
  size: number;
}

export class Blobs {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  path(digest: string): string {
    return join(this.folder, hexOf(digest));
  }

  has(digest: string): boolean {
    return existsSync(this.path(digest));
  }

  /** Writes the chunks as a blob; throws if its digest is not `expected`. */
  async write(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, expected?: string): Promise<Blob> {
    await mkdir(this.folder, { recursive: true, mode: 0o755 });
    await sweepDrafts(this.folder);
    const write = async (draft: string): Promise<Blob> => {
      const blob = await writeDraft(draft, chunks);
      if (expected !== undefined && blob.digest !== expected)
        throw imageCorrupt(`a part should have the digest ${expected} and has ${blob.digest}`, {
          expected,
          found: blob.digest,
        });
      return blob;
    };
    return publishByContent(this.folder, write, ({ digest }) => hexOf(digest)).catch((error: unknown) => {
      throw writingFailed('a part of an image', error);
    });
  }

  /** Reads a small blob and checks its digest. */
  async read(digest: string): Promise<Buffer> {
    const bytes = await readFile(this.path(digest)).catch(() => undefined);
    const found = bytes === undefined ? undefined : createHash('sha256').update(bytes).digest('hex');
    if (bytes === undefined || found !== hexOf(digest)) throw damaged(digest);
    return bytes;
  }

  /** Throws unless the file has the digest in its name. */
  async verify(digest: string): Promise<void> {
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(this.path(digest))) hash.update(chunk as Buffer);
    } catch {
      throw damaged(digest);
    }
    if (hash.digest('hex') !== hexOf(digest)) throw damaged(digest);
  }
}

async function writeDraft(draft: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Blob> {
  const hash = createHash('sha256');
  const handle = await open(draft, 'wx', 0o644);
  let size = 0;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      await handle.writeFile(chunk);
    }
    await handle.chmod(0o444);
  } finally {
    await handle.close();
  }
  return { digest: `sha256:${hash.digest('hex')}`, size };
}

function damaged(digest: string): Error {
  return imageCorrupt(`the part ${digest} in the store is missing or was changed`, { digest });
}
