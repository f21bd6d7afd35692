/**
 * What the import layer works with. It can reach nothing else: no file system, clock or process that is not listed here.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { LinkPlan } from '../dlopen/plan.ts';
import type { GuestProcess } from './process.ts';

/** The parts of the outside that the layer uses. */
export interface Ports {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Milliseconds from an arbitrary start, monotonic. */
  elapsed: () => number;
  /** Milliseconds of CPU time from an arbitrary start. */
  worked: () => number;
  random: (into: Uint8Array) => void;
  /** Waits without using the CPU. */
  sleep: (milliseconds: number) => void;
  /** Called when the guest exits. */
  exit: (code: number) => never;
}

export interface Context {
  readonly memory: GuestMemory;
  /** For the running call. */
  readonly process: GuestProcess;
  readonly ports: Ports;
  readonly env: Readonly<Record<string, string>>;
  readonly maxPages: number;
  /** The native code of packages in this instance; undefined if there is none. */
  readonly linked: LinkPlan | undefined;
}

/** A group of imports by name. */
export type ImportFunctions = Record<string, (...args: never[]) => unknown>;
