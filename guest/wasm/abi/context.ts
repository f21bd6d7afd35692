/**
 * A component instance as the canonical ABI sees it while values cross its boundary: memory, allocator, handles, and the
 * remaining copy budget.
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
  /** False while it is running: it must not be re-entered. */
  mayEnter: boolean;
  /** False in the allocator and in post-return: they must not call out. */
  mayLeave: boolean;
}

/** How much one call may copy out of guest memory. */
export interface TransferBudget {
  /** Bytes left for all values together. */
  left: number;
  /** Maximum size of one string or list, in bytes. */
  readonly value: number;
}

export interface ContextParts {
  border: Border;
  budget: TransferBudget;
  encoding: CanonOptions['encoding'];
  memory: WebAssembly.Memory | undefined;
  /** Number of pages that the guest sees, if the memory has more. */
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
  /** Set while the values of a call between two components are passed. */
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

  /** Called before values cross, and after guest code ran: growing the memory detaches the old buffer. */
  refresh(): void {
    if (this.#memory === undefined) return;
    const { buffer } = this.#memory;
    const size = this.#pages ? Number(this.#pages.value) * PAGE_BYTES : buffer.byteLength;
    if (buffer === this.bytes.buffer && size === this.bytes.byteLength) return;
    if (!(buffer instanceof ArrayBuffer)) throw new GuestEnd('trap', 'Shared memory');
    this.bytes = new Uint8Array(buffer, 0, size);
    this.view = new DataView(buffer, 0, size);
  }

  /** Returns the address as an unsigned number, after checking that the whole range is inside the memory. */
  check(address: number, size: number, align: number): number {
    const start = address >>> 0;
    if (start % align !== 0) throw new GuestEnd('trap', `Address ${start} is not aligned to ${align}`);
    if (start + size > this.bytes.byteLength) {
      throw new GuestEnd('trap', `Address ${start} with ${size} bytes is outside the memory`);
    }
    return start;
  }

  /** Called before `bytes` are copied out as one value. */
  charge(bytes: number): void {
    if (bytes > this.#budget.value) throw new GuestEnd('limit', 'output');
    this.#budget.left -= bytes;
    if (this.#budget.left < 0) throw new GuestEnd('limit', 'transfer');
  }

  /** Runs guest code: it may trap, loop, grow the memory and lie about what it allocated, but not call out. */
  allocate(size: number, align: number): number {
    if (this.#realloc === undefined)
      throw new GuestEnd('trap', 'The guest exports no allocator, but a value needs memory');
    if (size > 0x7fff_ffff) throw new GuestEnd('trap', 'A value is too large for guest memory');
    this.border.mayLeave = false;
    const address: unknown = this.#realloc(0, 0, align, size);
    this.border.mayLeave = true;
    if (typeof address !== 'number') throw new GuestEnd('trap', 'The allocator did not return an address');
    this.refresh();
    return this.check(address, size, align);
  }
}
