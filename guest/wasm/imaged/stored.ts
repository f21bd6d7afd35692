/**
 * Images that a process does not hold in its memory: a file, of which only the parts that calls change are read again, and
 * the pages in which one image differs from another.
 *
 * @module
 */
import { fstatSync, openSync, readSync } from 'node:fs';
import { readPart, type StoredBytes } from './memory.ts';

/** The unit in which images are restored and compared. */
export const STORED_PAGE_BYTES = 4096;
const CHUNK_PAGES = 64;

/** A file that nobody changes, because the host publishes a new one instead. It stays open, even if it is removed. */
export class FileBytes implements StoredBytes {
  readonly length: number;
  readonly #descriptor: number;
  /** The pages that were restored before: calls of a skill write to the same ones. */
  readonly #pages = new Map<number, Uint8Array>();

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.length = fstatSync(this.#descriptor).size;
  }

  read(into: Uint8Array, at: number): void {
    if (into.length !== STORED_PAGE_BYTES) return this.#readFile(into, at);
    let page = this.#pages.get(at);
    if (!page) {
      page = new Uint8Array(STORED_PAGE_BYTES);
      this.#readFile(page, at);
      this.#pages.set(at, page);
    }
    into.set(page);
  }

  #readFile(into: Uint8Array, at: number): void {
    for (let done = 0; done < into.length;) {
      const count = readSync(this.#descriptor, into, done, into.length - done, at + done);
      if (count === 0) throw new Error('The image is shorter than it was');
      done += count;
    }
  }
}

/** An image as the pages in which it differs from another one. */
export class ChangedPages implements StoredBytes {
  readonly length: number;
  /** By the address of the page. */
  readonly pages: ReadonlyMap<number, Uint8Array>;
  readonly #base: Uint8Array | StoredBytes;

  constructor(base: Uint8Array | StoredBytes, pages: ReadonlyMap<number, Uint8Array>, length: number) {
    this.#base = base;
    this.pages = pages;
    this.length = length;
  }

  /** Copies what differs; `memory` is not needed any more. */
  static between(base: Uint8Array | StoredBytes, memory: Uint8Array): ChangedPages {
    const pages = new Map<number, Uint8Array>();
    const chunk = new Uint8Array(CHUNK_PAGES * STORED_PAGE_BYTES);
    for (let start = 0; start < memory.length; start += chunk.length) {
      const before = chunk.subarray(0, Math.min(chunk.length, memory.length - start));
      readBase(base, before, start);
      for (let at = 0; at < before.length; at += STORED_PAGE_BYTES) {
        const page = memory.subarray(start + at, start + at + STORED_PAGE_BYTES);
        if (Buffer.compare(page, before.subarray(at, at + STORED_PAGE_BYTES)) !== 0)
          pages.set(start + at, page.slice());
      }
    }
    return new ChangedPages(base, pages, memory.length);
  }

  read(into: Uint8Array, at: number): void {
    if (into.length === STORED_PAGE_BYTES && at % STORED_PAGE_BYTES === 0) {
      const page = this.pages.get(at);
      if (page) into.set(page);
      else readBase(this.#base, into, at);
      return;
    }
    readBase(this.#base, into, at);
    for (const [start, page] of this.pages) {
      const from = Math.max(start, at);
      const to = Math.min(start + page.length, at + into.length);
      if (from < to) into.set(page.subarray(from - start, to - start), from - at);
    }
  }
}

/** Behind the base, everything is zero. */
function readBase(base: Uint8Array | StoredBytes, into: Uint8Array, at: number): void {
  const known = Math.max(0, Math.min(into.length, base.length - at));
  if (known > 0) readPart(base, known === into.length ? into : into.subarray(0, known), at);
  into.fill(0, known);
}
