/**
 * The guest's linear memory as seen by the import layer. Every address and length comes from the guest: an access
 * outside the memory throws a RangeError, which ends the call.
 *
 * @module
 */
const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();
const MAX_TEXT_BYTES = 16_384;

export class GuestMemory {
  readonly memory: WebAssembly.Memory;
  #buffer: ArrayBuffer | undefined;
  #view!: DataView;
  #bytes!: Uint8Array;

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /** Valid until the guest runs again, because growth replaces the buffer. */
  get bytes(): Uint8Array {
    this.#refresh();
    return this.#bytes;
  }

  get view(): DataView {
    this.#refresh();
    return this.#view;
  }

  u32(address: number): number {
    return this.view.getUint32(address >>> 0, true);
  }

  setU32(address: number, value: number): void {
    this.view.setUint32(address >>> 0, value, true);
  }

  setU64(address: number, value: bigint): void {
    this.view.setBigUint64(address >>> 0, value, true);
  }

  /** Returns a view, not a copy. */
  slice(address: number, length: number): Uint8Array {
    const start = address >>> 0;
    const end = start + (length >>> 0);
    if (end > this.bytes.length) throw new RangeError('An address is outside the memory');
    return this.bytes.subarray(start, end);
  }

  /** Reads a NUL-terminated string. */
  text(address: number): string {
    const start = address >>> 0;
    const end = this.bytes.indexOf(0, start);
    if (end < 0 || end - start > MAX_TEXT_BYTES) throw new RangeError('A string has no NUL terminator');
    return decoder.decode(this.bytes.subarray(start, end));
  }

  setText(address: number, text: string): number {
    const encoded = encoder.encode(`${text}\0`);
    this.slice(address, encoded.length).set(encoded);
    return encoded.length;
  }

  #refresh(): void {
    const { buffer } = this.memory;
    if (buffer === this.#buffer) return;
    this.#buffer = buffer;
    this.#view = new DataView(buffer);
    this.#bytes = new Uint8Array(buffer);
  }
}
