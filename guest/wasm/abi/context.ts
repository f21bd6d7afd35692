/**
 * A component instance as the canonical ABI sees it while values cross its border: memory, allocator, handles, and how
 * much may still be copied out.
 *
 * @module
 */

import { GuestEnd, type CanonOptions } from '../contract.ts';
import type { CallScope, HandleTable } from './resources.ts';

/** A component instance at run time. */
export interface Border {
  /** Its number within the prepared component. */
  readonly id: number;
  readonly handles: HandleTable;
  /** False while it is running: it may not be called back. */
  mayEnter: boolean;
  /** False in allocator and post-return: they may not call out. */
  mayLeave: boolean;
}

/** How much one call may copy out of guest memory. */
export interface TransferBudget {
  /** Bytes left of all values together. */
  left: number;
  /** Bytes of one string or list. */
  readonly value: number;
}

export interface ContextParts {
  border: Border;
  budget: TransferBudget;
  encoding: CanonOptions['encoding'];
  memory: WebAssembly.Memory | undefined;
  /** How many pages the guest knows of, where the memory has more. */
  pages?: WebAssembly.Global | undefined;
  realloc: CallableFunction | undefined;
}

export const PAGE_BYTES = 65_536;
const NO_MEMORY = new Uint8Array(0);

export class AbiContext {
  readonly border: Border;
  readonly encoding: CanonOptions['encoding'];
  bytes: Uint8Array<ArrayBuffer> = NO_MEMORY;
  view: DataView<ArrayBuffer> = new DataView(NO_MEMORY.buffer);
  /** Set while the values of a call between two components cross. */
  scope: CallScope | undefined;
  readonly #budget: TransferBudget;
  readonly #memory: WebAssembly.Memory | undefined;
  readonly #pages: WebAssembly.Global | undefined;
  readonly #realloc: CallableFunction | undefined;

  constructor(parts: ContextParts) {
    this.border = parts.border;
    this.encoding = parts.encoding;
    this.#budget = parts.budget;
    this.#memory = parts.memory;
    this.#pages = parts.pages;
    this.#realloc = parts.realloc;
  }

  /** Before values cross, and after any guest code ran: growing the memory detaches the old buffer. */
  refresh(): void {
    if (this.#memory === undefined) return;
    const { buffer } = this.#memory;
    const size = this.#pages ? Number(this.#pages.value) * PAGE_BYTES : buffer.byteLength;
    if (buffer === this.bytes.buffer && size === this.bytes.byteLength) return;
    if (!(buffer instanceof ArrayBuffer)) throw new GuestEnd('trap', 'Shared memory');
    this.bytes = new Uint8Array(buffer, 0, size);
    this.view = new DataView(buffer, 0, size);
  }

  /** Returns the address as an unsigned number, after checking that all of it is memory. */
  check(address: number, size: number, align: number): number {
    const start = address >>> 0;
    if (start % align !== 0) throw new GuestEnd('trap', `Address ${start} is not aligned to ${align}`);
    if (start + size > this.bytes.byteLength) {
      throw new GuestEnd('trap', `Address ${start} with ${size} bytes is outside of memory`);
    }
    return start;
  }

  /** Before `bytes` are copied out as one value. */
  charge(bytes: number): void {
    if (bytes > this.#budget.value) throw new GuestEnd('limit', 'output');
    this.#budget.left -= bytes;
    if (this.#budget.left < 0) throw new GuestEnd('limit', 'transfer');
  }

  /** Guest code: it may trap, loop, grow the memory and lie about what it allocated, but not call out. */
  allocate(size: number, align: number): number {
    if (this.#realloc === undefined) throw new GuestEnd('trap', 'No allocator for a value that needs memory');
    if (size > 0x7fff_ffff) throw new GuestEnd('trap', 'A value too large for guest memory');
    this.border.mayLeave = false;
    const address: unknown = this.#realloc(0, 0, align, size);
    this.border.mayLeave = true;
    if (typeof address !== 'number') throw new GuestEnd('trap', 'The allocator returned no address');
    this.refresh();
    return this.check(address, size, align);
  }
}
