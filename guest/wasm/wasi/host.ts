/**
 * WASI for one cell: the tables of host functions are created once per process and read the state of the current call
 * from a slot. A cell runs one call at a time, so one slot is enough.
 *
 * How a linker uses it: `createWasi()` once; link every instance against `wasi.interfaces` (or, for a preview1
 * command, `wasi.preview1(suspend)`), so that lowered imports are also prepared once per process. Before creating an
 * instance: `host = wasi.createHost(options)`, which makes the new call the current one. A standby instance is created
 * with its own host right after the previous call ended; when its call arrives, `host.setStdin` passes the input. A
 * command needs `host.setMemory` after instantiation. At the end, call `host.finish()`.
 *
 * @module
 */
import type { GuestEnd, HostInterfaces } from '../contract.ts';
import { Call, type HostOptions, type Slot } from './call.ts';
import { cliInterfaces } from './cli.ts';
import { clockInterfaces } from './clocks.ts';
import { filesystemInterfaces } from './filesystem.ts';
import { httpInterfaces } from './http/interfaces.ts';
import { ioInterfaces } from './io.ts';
import { createPreview1, type Preview1Imports, type Suspend } from './preview1/imports.ts';
import { Preview1Process, type Preview1Slot } from './preview1/process.ts';
import { randomInterfaces } from './random.ts';
import { skillCallInterfaces } from './skill-calls.ts';
import { skillHostInterfaces } from './skill-host.ts';

export interface Wasi {
  readonly interfaces: HostInterfaces;
  /** The import module `wasi_snapshot_preview1`. Create it once and keep it. */
  preview1(suspend: Suspend): Preview1Imports;
  createHost(options: HostOptions): WasiHost;
}

/** The state of one call. */
export interface WasiHost {
  readonly interfaces: HostInterfaces;
  /** Starts the call with its input; the guest's clock counts from here. */
  setStdin(bytes: Uint8Array): void;
  /** The export `memory` of a command, whatever it is: without a memory, its system calls end it. */
  setMemory(memory: unknown): void;
  /** Why a command ended, even if it caught the exception and then exited normally. */
  readonly guestEnd: GuestEnd | undefined;
  /** Closes what the guest left open. Later calls of host functions end their caller. */
  finish(): void;
}

export function createWasi(): Wasi {
  const slot: Slot = { current: undefined };
  const preview1: Preview1Slot = { current: undefined };
  const interfaces: HostInterfaces = {
    ...cliInterfaces(slot),
    ...clockInterfaces(slot),
    ...filesystemInterfaces(slot),
    ...httpInterfaces(slot),
    ...ioInterfaces(),
    ...randomInterfaces(slot),
    ...skillCallInterfaces(slot),
    ...skillHostInterfaces(slot),
  };
  return {
    interfaces,
    preview1: (suspend) => createPreview1(preview1, suspend),
    createHost: (options) => new CallHost({ slot, preview1, interfaces }, options),
  };
}

interface Shared {
  slot: Slot;
  preview1: Preview1Slot;
  interfaces: HostInterfaces;
}

class CallHost implements WasiHost {
  readonly #shared: Shared;
  readonly #call: Call;

  constructor(shared: Shared, options: HostOptions) {
    this.#shared = shared;
    this.#call = new Call(options);
    shared.slot.current = this.#call;
    shared.preview1.current = undefined;
  }

  get interfaces(): HostInterfaces {
    return this.#shared.interfaces;
  }

  setStdin(bytes: Uint8Array): void {
    this.#call.begin();
    this.#call.stdin = bytes;
    this.#call.stdinPosition = 0;
  }

  get guestEnd(): GuestEnd | undefined {
    return this.#call.guestEnd;
  }

  setMemory(memory: unknown): void {
    if (!(memory instanceof WebAssembly.Memory)) return;
    this.#shared.preview1.current = new Preview1Process(this.#call, memory);
  }

  finish(): void {
    this.#call.finish();
    if (this.#shared.slot.current !== this.#call) return;
    this.#shared.slot.current = undefined;
    this.#shared.preview1.current = undefined;
  }
}
