/**
 * The complete import object of the engine: twelve functions, and no other way out.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { Value } from './exports.ts';

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const REALTIME_CLOCK = 0;
const NANOSECONDS_PER_MS = 1_000_000n;
const ADDRESS_BYTES = 4;
const CHUNK_RECORD_BYTES = 8;
/** The engine itself needs a handful of random numbers; skills use a host function. */
const MAX_RANDOM_BYTES = 65_536;
/** None of our functions takes more arguments, and the engine writes no text in more pieces. */
const MAX_ITEMS = 64;

/** The engine's environment. Looked up on each use, because it changes with every call. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Monotonic nanoseconds. */
  elapsed: () => bigint;
  random: (length: number) => Uint8Array;
  /** Receives what the engine itself prints, such as a failed assertion. */
  print: (bytes: Uint8Array) => void;
  /** Full name of a module that another one imports. */
  resolve: (specifier: string, importer: string) => string;
  /** Source of a module by its full name. */
  source: (name: string) => string;
  /** A host function was called. */
  call: (name: string, args: Value[]) => Value;
  /** A promise was rejected without a handler, or got one later. The receiver owns both values. */
  rejection: (promise: Value, reason: Value, isHandled: boolean) => void;
}

/** What the imports need from their engine. */
export interface Guest {
  readonly memory: GuestMemory;
  /** Writes a NUL-terminated string into the guest's memory; the guest owns it. */
  leaveText(text: string): { address: number; bytes: number };
  /** Makes the guest's function throw an exception when it continues. */
  throwError(error: unknown): void;
}

export function engineImports(guest: () => Guest, around: Surroundings): WebAssembly.Imports {
  return {
    env: { ...moduleCalls(guest, around), ...hostCalls(guest, around) },
    wasi_snapshot_preview1: systemCalls(guest, around),
  };
}

type Functions = Record<string, (...args: never[]) => unknown>;

function moduleCalls(guest: () => Guest, around: Surroundings): Functions {
  /** The engine treats 0 as an exception. */
  const attempt = (act: () => number): number => {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      guest().throwError(error);
      return 0;
    }
  };
  return {
    host_module_normalize: (importer: number, specifier: number) =>
      attempt(() => {
        const { memory } = guest();
        return guest().leaveText(around.resolve(memory.text(specifier), memory.text(importer))).address;
      }),
    host_module_load: (name: number, length: number) =>
      attempt(() => {
        const { address, bytes } = guest().leaveText(around.source(guest().memory.text(name)));
        guest().memory.setU32(length, bytes);
        return address;
      }),
  };
}

/** A module that cannot be loaded; the guest sees the reason. */
export class ModuleError extends Error {}

function hostCalls(guest: () => Guest, around: Surroundings): Functions {
  return {
    // oxlint-disable-next-line max-params -- required by the engine
    host_call: (name: number, bytes: number, _self: number, count: number, list: number) => {
      const { memory } = guest();
      const args = Array.from({ length: Math.min(count >>> 0, MAX_ITEMS) }, (_, at) =>
        memory.u32(list + at * ADDRESS_BYTES),
      );
      return around.call(Buffer.from(memory.slice(name, bytes)).toString('latin1'), args);
    },
    host_promise_rejection: (promise: number, reason: number, isHandled: number) =>
      around.rejection(promise, reason, isHandled !== 0),
    host_interrupt: () => 0,
    // Every cell uses UTC: a time zone would reveal where the host is.
    host_get_timezone_offset: () => 0,
  };
}

function systemCalls(guest: () => Guest, around: Surroundings): Functions {
  return {
    clock_time_get: (clock: number, _precision: bigint, result: number) => {
      const isReal = clock === REALTIME_CLOCK;
      guest().memory.setU64(result, isReal ? BigInt(around.now()) * NANOSECONDS_PER_MS : around.elapsed());
      return SUCCESS;
    },
    random_get: (address: number, length: number) => {
      if (length >>> 0 > MAX_RANDOM_BYTES) throw new RangeError('Too many random bytes in one request');
      guest().memory.slice(address, length).set(around.random(length));
      return SUCCESS;
    },
    // oxlint-disable-next-line max-params -- required by WASI
    fd_write: (descriptor: number, list: number, count: number, written: number) => {
      if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
      const { memory } = guest();
      let total = 0;
      for (let at = 0; at < Math.min(count >>> 0, MAX_ITEMS); at++) {
        const record = list + at * CHUNK_RECORD_BYTES;
        const chunk = memory.slice(memory.u32(record), memory.u32(record + ADDRESS_BYTES)).slice();
        around.print(chunk);
        total += chunk.length;
      }
      memory.setU32(written, total);
      return SUCCESS;
    },
    fd_close: () => BAD_DESCRIPTOR,
    fd_fdstat_get: () => BAD_DESCRIPTOR,
    fd_seek: () => BAD_DESCRIPTOR,
  };
}
