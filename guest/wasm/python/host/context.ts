/**
 * What the import layer works with. It reaches nothing else: no file system, no clock, no process but what stands here.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { LinkPlan } from '../dlopen/plan.ts';
import type { GuestProcess } from './process.ts';

/** The few things of the outside that the layer uses. */
export interface Ports {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Milliseconds from any start, never going back. */
  elapsed: () => number;
  /** Milliseconds of CPU time from any start. */
  worked: () => number;
  random: (into: Uint8Array) => void;
  /** Waits without using the CPU. */
  sleep: (milliseconds: number) => void;
  /** The guest ended itself. */
  exit: (code: number) => never;
}

export interface Context {
  readonly memory: GuestMemory;
  /** Of the running call. */
  readonly process: GuestProcess;
  readonly ports: Ports;
  readonly env: Readonly<Record<string, string>>;
  readonly maxPages: number;
  /** The native code of packages that the instance has; undefined when it has none. */
  readonly linked: LinkPlan | undefined;
}

/** A group of imports by name. */
export type ImportFunctions = Record<string, (...args: never[]) => unknown>;
