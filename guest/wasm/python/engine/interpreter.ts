/**
 * One instance of the engine with its own memory. Its whole mutable state is the memory and the stack pointer
 * (a test disassembles the module to verify this), so an image of both is the complete interpreter at that moment.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import { Cards } from '../../imaged/cards.ts';
import type { Context } from '../host/context.ts';
import { BridgeAlarm, engineImports } from '../host/imports.ts';
import { Libraries, type LibraryCode } from '../dlopen/attach.ts';
import type { EngineExports } from './exports.ts';
import { HashCalls } from '../host/hash-calls.ts';
import { HASH_TABLE } from './hash-table.ts';
import { CARDS_IMPORT } from './mark-stores.ts';
import { GuestMemory } from '../../imaged/guest-memory.ts';
import type { StoredBytes } from '../../imaged/memory.ts';

export const PAGE_BYTES = 65_536;

/** The engine's module and the trampoline, compiled once per process. */
export interface EngineCode {
  module: WebAssembly.Module;
  trampoline: WebAssembly.Module;
  hashRelay: WebAssembly.Module;
  /** Native code of packages. */
  libraries?: LibraryCode | undefined;
}

/** Addresses in an image; fixed when the engine is booted. */
export interface Layout {
  stackLow: number;
  stackHigh: number;
  /** Address of the C library's break. */
  breakCell: number;
  trampolineSlot: number;
}

export interface Image<Memory = Uint8Array | StoredBytes> {
  memory: Memory;
  stackPointer: number;
}

export interface InterpreterOptions {
  code: EngineCode;
  initialPages: number;
  maxPages: number;
  /** The whole context except the memory. */
  surroundings: Omit<Context, 'memory' | 'maxPages' | 'linked'>;
  /** Memory of a previous instance; its content stays until an image is restored. */
  memory?: GuestMemory;
  /** Whether every byte is restored each time, also those that nothing wrote. */
  restoresAll?: boolean;
}

export class Interpreter {
  readonly memory: GuestMemory;
  readonly exports: EngineExports;
  readonly alarm: BridgeAlarm = new BridgeAlarm();
  readonly trampolineSlot: number;
  readonly libraries: Libraries | undefined;
  readonly #hashes: HashCalls;

  constructor(options: InterpreterOptions) {
    const { code, maxPages, surroundings } = options;
    this.memory = options.memory ?? newMemory(options);
    this.#hashes = new HashCalls(this.memory);
    // Looked up each time, because every call has another process.
    const context: Context = {
      memory: this.memory,
      maxPages,
      ports: surroundings.ports,
      env: surroundings.env,
      linked: code.libraries?.plan,
      get process() {
        return surroundings.process;
      },
    };
    const imports = engineImports(code.module, context, this.alarm);
    const instance = new WebAssembly.Instance(code.module, imports);
    this.exports = instance.exports as unknown as EngineExports;
    this.trampolineSlot = this.#addTrampoline(code.trampoline);
    this.#addHash(code.hashRelay);
    this.libraries =
      code.libraries &&
      new Libraries({ ...code.libraries, memory: this.memory.memory, engine: instance.exports });
  }

  /** False if something changed that an image cannot restore. */
  get isIntact(): boolean {
    return this.exports.references_1.length + this.exports.references_2.length === 0;
  }

  get pages(): number {
    return this.memory.memory.buffer.byteLength / PAGE_BYTES;
  }

  /** Calls a Python function with bytes; an exception that it raises is a bug in the harness. */
  call(callable: number, argument: Uint8Array): void {
    const { exports } = this;
    const bytes = exports.PyBytes_FromStringAndSize(0, argument.length);
    if (bytes === 0) throw new OutOfMemory();
    this.memory.slice(exports.PyBytes_AsString(bytes), argument.length).set(argument);
    const result = exports.PyObject_CallOneArg(callable, bytes);
    this.alarm.check();
    if (result === 0) throw new Error('The harness raised an exception');
  }

  /** Up to the break of the C library, which never decreases. The guest could overwrite it, so it is only a figure. */
  usedBytes({ breakCell }: Layout): number {
    const used = Math.ceil(this.memory.u32(breakCell) / PAGE_BYTES) * PAGE_BYTES;
    return Math.min(used, this.memory.bytes.length);
  }

  /** Everything up to the break of the C library; memory after it was never used. */
  takeImage(layout: Layout): Image<Uint8Array> {
    return {
      memory: this.memory.bytes.slice(0, this.usedBytes(layout)),
      stackPointer: Number(this.exports.__stack_pointer.value),
    };
  }

  /** Restores the state of the image. Nothing in the guest's memory is read or trusted. */
  restore(image: Image, layout: Layout): void {
    this.memory.restore(image.memory);
    this.exports.emscripten_stack_set_limits(layout.stackHigh, layout.stackLow);
    this.exports.__stack_pointer.value = image.stackPointer;
    this.alarm.reset();
    this.#hashes.reset();
  }

  #addHash(module: WebAssembly.Module): void {
    const relay = new WebAssembly.Instance(module, { env: { hash: this.#hashes.hash } });
    this.exports[HASH_TABLE].set(0, relay.exports['hash'] as CallableFunction);
  }

  #addTrampoline(module: WebAssembly.Module): number {
    const table = this.exports.__indirect_function_table;
    const env = { memory: this.memory.memory, [CARDS_IMPORT.name]: this.memory.cards?.memory, table };
    const slot = table.grow(1);
    table.set(slot, new WebAssembly.Instance(module, { env }).exports['call'] as CallableFunction);
    return slot;
  }
}

/** The native code of packages is as its authors built it: it marks nothing. */
function newMemory({ code, initialPages, maxPages, restoresAll = false }: InterpreterOptions): GuestMemory {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: maxPages });
  return new GuestMemory(memory, new Cards({ maxPages, isComplete: !restoresAll && !code.libraries }));
}

/** The parameters themselves do not fit. */
export class OutOfMemory extends Error {}
