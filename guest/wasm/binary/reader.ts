/**
 * Reads an untrusted binary: every read is bounded, and every error has an offset.
 *
 * @module
 */

/** Why a binary is refused, and at which byte. */
export class BinaryError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'BinaryError';
    this.offset = offset;
  }
}

/** A window into the bytes. Offsets always count from the start of `bytes`, even in nested windows. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start: number = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get done(): boolean {
    return this.position >= this.end;
  }

  fail(message: string, offset: number = this.position): never {
    throw new BinaryError(message, offset);
  }

  byte(): number {
    if (this.position >= this.end) this.fail('The binary ends too early');
    return this.bytes[this.position++] as number;
  }

  /** The next byte without moving, or -1 at the end. */
  peek(): number {
    return this.position < this.end ? (this.bytes[this.position] as number) : -1;
  }

  skip(length: number): void {
    if (length > this.end - this.position) this.fail(`${length} bytes are declared, but fewer follow`);
    this.position += length;
  }

  u32(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    const last = this.byte();
    if (last > 0x0f) this.fail('A number does not fit into 32 bits', this.position - 1);
    return value + last * 0x1000_0000;
  }

  /** A signed number of up to 33 bits. */
  signed(bits: 32 | 33): number {
    let value = 0;
    for (let index = 0; index < 4; index++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return byte & 0x40 ? value - 2 ** (7 * index + 7) : value;
    }
    const last = this.#lastOfSigned(bits - 28);
    return value + last * 2 ** 28;
  }

  skipS64(): void {
    for (let index = 0; index < 9; index++) if (this.byte() < 0x80) return;
    this.#lastOfSigned(1);
  }

  /** The last byte that a signed number may have: the bits beyond its width must repeat the sign. */
  #lastOfSigned(bits: number): number {
    const byte = this.byte();
    const value = byte & 0x40 ? byte - 0x80 : byte;
    if (byte >= 0x80 || value < -(2 ** (bits - 1)) || value >= 2 ** (bits - 1)) {
      this.fail('A signed number is too long', this.position - 1);
    }
    return value;
  }

  /** Reads the number of items that follow. Each takes at least one byte, so a count beyond the window is false. */
  count(cap: number, what: string): number {
    const offset = this.position;
    const count = this.u32();
    if (count > cap) this.fail(`${count} ${what} exceed the maximum of ${cap}`, offset);
    if (count > this.end - this.position)
      this.fail(`${count} ${what} are declared, but fewer bytes follow`, offset);
    return count;
  }

  /** Reads an index that must be below `limit`. */
  index(limit: number, what: string): number {
    const offset = this.position;
    const index = this.u32();
    if (index >= limit) this.fail(`There is no ${what} ${index}`, offset);
    return index;
  }

  name(cap: number): string {
    const offset = this.position;
    const length = this.u32();
    if (length > cap) this.fail(`A name of ${length} bytes is longer than the maximum of ${cap}`, offset);
    this.skip(length);
    return this.#utf8(this.position - length);
  }

  #utf8(start: number): string {
    const bytes = this.bytes.subarray(start, this.position);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return this.fail('A name is not UTF-8', start);
    }
  }

  /** Returns a window on the next `length` bytes; this reader continues after them. */
  window(length: number): Reader {
    const start = this.position;
    this.skip(length);
    return new Reader(this.bytes, start, this.position);
  }

  /** Fails unless everything was read. */
  finish(what: string): void {
    if (!this.done) this.fail(`The ${what} has ${this.end - this.position} bytes too many`);
  }
}
