/**
 * The guest's linear memory as seen by the import layer. Every address and length comes from the guest: an access
 * outside the memory throws a RangeError, which ends the call.
 *
 * @module
 */
import type * as Crypto from 'node:crypto';
import type { Cards } from './cards.ts';
import { layImage, type StoredBytes } from './memory.ts';

const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();
const MAX_TEXT_BYTES = 16_384;

/** What does not write. Writes must go through the methods of `GuestMemory`, which mark them. */
type ReadableBytes = Pick<Uint8Array, 'length' | 'slice' | 'indexOf'>;
type ReadableView = Pick<DataView, 'getInt16' | 'getInt32' | 'getUint32' | 'getBigInt64'>;

export class GuestMemory {
  readonly memory: WebAssembly.Memory;
  /** Where writes are marked, if anything uses the marks. */
  readonly cards: Cards | undefined;
  #buffer: ArrayBuffer | undefined;
  #hash: typeof Crypto.hash | undefined;
  #view!: DataView;
  #bytes!: Uint8Array;
  #text!: Buffer<ArrayBuffer>;

  constructor(memory: WebAssembly.Memory, cards?: Cards) {
    this.memory = memory;
    this.cards = cards;
  }

  /** Valid until the guest runs again, because growth replaces the buffer. */
  get bytes(): ReadableBytes {
    return this.#all();
  }

  get view(): ReadableView {
    return this.#fields();
  }

  /** Gives all of it the content of the image, which must never change. Nothing in it is read or trusted. */
  restore(image: Uint8Array | StoredBytes): void {
    if (this.cards) this.cards.restore(this.#all(), image);
    else layImage(this.#all(), image);
  }

  u32(address: number): number {
    return this.view.getUint32(address >>> 0, true);
  }

  setU32(address: number, value: number): void {
    this.#marked(address, 4).setUint32(address >>> 0, value, true);
  }

  setU64(address: number, value: bigint): void {
    this.#marked(address, 8).setBigUint64(address >>> 0, value, true);
  }

  setI16(address: number, value: number): void {
    this.#marked(address, 2).setInt16(address >>> 0, value, true);
  }

  setI32(address: number, value: number): void {
    this.#marked(address, 4).setInt32(address >>> 0, value, true);
  }

  /** Returns a view to read or write, not a copy. It must not be kept after the call. */
  slice(address: number, length: number): Uint8Array {
    const start = address >>> 0;
    const end = start + (length >>> 0);
    const bytes = this.#all();
    if (end > bytes.length) throw new RangeError('An address is outside the memory');
    this.cards?.mark(start, length >>> 0);
    return bytes.subarray(start, end);
  }

  /** Reads a NUL-terminated string. */
  text(address: number): string {
    const start = address >>> 0;
    const end = this.bytes.indexOf(0, start);
    if (end < 0 || end - start > MAX_TEXT_BYTES) throw new RangeError('A string has no NUL terminator');
    return decoder.decode(this.#all().subarray(start, end));
  }

  setText(address: number, text: string): number {
    const encoded = encoder.encode(`${text}\0`);
    this.slice(address, encoded.length).set(encoded);
    return encoded.length;
  }

  /** Writes the digest of some bytes; its length depends on the algorithm. */
  // oxlint-disable-next-line max-params -- an object would take a noticeable part of the time
  setDigest(address: number, algorithm: string, from: number, length: number): void {
    // Loaded only if needed: it takes a new process ten milliseconds.
    this.#hash ??= process.getBuiltinModule('node:crypto').hash;
    this.#refresh();
    // Throws if they are outside the memory.
    const bytes = new Uint8Array(this.#buffer as ArrayBuffer, from >>> 0, length >>> 0);
    // As text, because an array takes longer to create than the hash takes.
    const digest = this.#hash(algorithm, bytes, 'latin1');
    const start = address >>> 0;
    const text = this.#text;
    if (start + digest.length > text.length) throw new RangeError('An address is outside the memory');
    this.cards?.mark(start, digest.length);
    text.write(digest, start, 'latin1');
  }

  #marked(address: number, length: number): DataView {
    this.cards?.mark(address >>> 0, length);
    return this.#fields();
  }

  #all(): Uint8Array {
    this.#refresh();
    return this.#bytes;
  }

  #fields(): DataView {
    this.#refresh();
    return this.#view;
  }

  #refresh(): void {
    const { buffer } = this.memory;
    if (buffer === this.#buffer) return;
    this.#view = new DataView(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#text = Buffer.from(buffer);
    // Last: a guest can make the stack overflow in any of these, and the next access must repeat all of them.
    this.#buffer = buffer;
  }
}
