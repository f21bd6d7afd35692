/**
 * The guest's memory, with every access checked. A pointer out of bounds is the guest's mistake: `fault`.
 *
 * @module
 */
import { BrokerError } from '../broker-client.ts';
import { trap } from '../check.ts';

const MAX_VECTORS = 1024;
const MAX_PATH = 4096;
/** Maximum size of one read or write; callers continue with the rest. */
const MAX_TRANSFER = 1 << 20;
const VECTOR_BYTES = 8;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A module may import a function with any signature, so even numbers are checked. */
export function u32(value: unknown): number {
  return typeof value === 'number' ? value >>> 0 : trap('An argument of a system call is not an i32');
}

export function u64(value: unknown): bigint {
  return typeof value === 'bigint'
    ? BigInt.asUintN(64, value)
    : trap('An argument of a system call is not an i64');
}

/** A u64 offset or size; values that no file can reach are invalid. */
export function offset64(value: unknown): number {
  const number = u64(value);
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new BrokerError('inval');
  return Number(number);
}

export interface Vector {
  pointer: number;
  length: number;
}

export class GuestMemory {
  readonly #memory: WebAssembly.Memory;
  #view: DataView;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#view = new DataView(memory.buffer);
  }

  /** A view of exactly these bytes, valid until the guest runs again. */
  bytes(pointer: number, length: number): Uint8Array {
    this.#at(pointer, length);
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  readU16(pointer: number): number {
    return this.#at(pointer, 2).getUint16(pointer, true);
  }

  readU32(pointer: number): number {
    return this.#at(pointer, 4).getUint32(pointer, true);
  }

  readU64(pointer: number): bigint {
    return this.#at(pointer, 8).getBigUint64(pointer, true);
  }

  readU8(pointer: number): number {
    return this.#at(pointer, 1).getUint8(pointer);
  }

  writeU8(pointer: number, value: number): void {
    this.#at(pointer, 1).setUint8(pointer, value);
  }

  writeU16(pointer: number, value: number): void {
    this.#at(pointer, 2).setUint16(pointer, value, true);
  }

  writeU32(pointer: number, value: number): void {
    this.#at(pointer, 4).setUint32(pointer, value, true);
  }

  writeU64(pointer: number, value: bigint): void {
    this.#at(pointer, 8).setBigUint64(pointer, value, true);
  }

  writeBytes(pointer: number, bytes: Uint8Array): void {
    this.bytes(pointer, bytes.length).set(bytes);
  }

  /** Reads a path. */
  path(pointer: number, length: number): string {
    if (length > MAX_PATH) throw new BrokerError('nametoolong');
    try {
      return decoder.decode(this.bytes(pointer, length));
    } catch (error) {
      if (error instanceof BrokerError) throw error;
      throw new BrokerError('ilseq');
    }
  }

  /** The buffers of a read or write, together at most one transfer. */
  vectors(pointer: number, count: number): Vector[] {
    if (count > MAX_VECTORS) throw new BrokerError('inval');
    this.#at(pointer, count * VECTOR_BYTES);
    const vectors: Vector[] = [];
    let left = MAX_TRANSFER;
    for (let index = 0; index < count; index += 1) {
      const at = pointer + index * VECTOR_BYTES;
      const start = this.readU32(at);
      const length = this.readU32(at + 4);
      this.#at(start, length);
      vectors.push({ pointer: start, length: Math.min(length, left) });
      left -= Math.min(length, left);
    }
    return vectors;
  }

  /** A copy of the bytes in the vectors. */
  gather(vectors: readonly Vector[]): Uint8Array {
    const all = new Uint8Array(totalLength(vectors));
    let at = 0;
    for (const { pointer, length } of vectors) {
      all.set(this.bytes(pointer, length), at);
      at += length;
    }
    return all;
  }

  scatter(vectors: readonly Vector[], bytes: Uint8Array): void {
    let at = 0;
    for (const { pointer, length } of vectors) {
      const part = bytes.subarray(at, at + length);
      this.writeBytes(pointer, part);
      at += part.length;
    }
  }

  /** The current view, which growth replaces, after a bounds check. */
  #at(pointer: number, length: number): DataView {
    const { buffer } = this.#memory;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    if (pointer + length > buffer.byteLength) throw new BrokerError('fault');
    return this.#view;
  }
}

export function totalLength(vectors: readonly Vector[]): number {
  let total = 0;
  for (const vector of vectors) total += vector.length;
  return total;
}
