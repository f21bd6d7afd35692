/**
 * The one shape every call ends in, success or failure.
 *
 * @module
 */
import type { ErrorBody } from './errors.ts';

export type Mode = 'in_process' | 'subprocess' | 'wasm' | 'container';
export type WallName = 'none' | 'process' | 'jail' | 'container';
export type EngineName = 'component' | 'python-wasm' | 'js-wasm' | 'python' | 'node' | 'exec';

/**
 * Where the fresh cell came from: a process started for the call (`cold`), ahead of it (`pool`), forked (`zygote`),
 * or a fresh instance inside a process that had served others (`warm`).
 */
export type StartKind = 'cold' | 'pool' | 'zygote' | 'warm';

export interface Usage {
  wall_ms: number;
  cpu_ms: number;
  memory_peak_bytes: number;
  fuel: number;
  output_bytes: number;
  host_calls: number;
}

/** Everything that a use or denial can be about. */
export const CAPABILITY_NAMES = [
  'filesystem',
  'network',
  'env',
  'secret',
  'process',
  'syscalls',
  'module',
] as const;

export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

/** One use or denial of a capability, as seen by whoever reported it. */
export interface CapabilityEvent {
  capability: CapabilityName;
  /** What the skill asked for, e.g. `read /etc/passwd` or `connect 127.0.0.1:80`. */
  asked: string;
  /** What the manifest or grant has for it. */
  declared: string;
}

/** How many events are not in the lists: those are bounded, and have the first of each kind. */
export interface EventsCut {
  used: number;
  denied: number;
}

export interface Capabilities {
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
  /** Absent when the lists have everything. */
  cut?: EventsCut;
}

/** All of them, those that are not in the list too. */
export function deniedCount({ denied, cut }: Capabilities): number {
  return denied.length + (cut?.denied ?? 0);
}

export interface Execution {
  mode: Mode;
  wall: WallName;
  engine: EngineName;
  /** False only where the skill is a part of the host, which keeps what earlier calls left. */
  fresh: boolean;
  start: StartKind;
  /** Digest of the container image. */
  image?: string;
  /** Digest over the wheels that the requirements were resolved to. */
  packages?: string;
}

export interface SkillIdentity {
  name: string;
  version: string;
  digest: string;
}

interface OutcomeBase {
  call_id: string;
  skill: SkillIdentity;
  /** Absent when the call ended before a cell was chosen. */
  execution?: Execution;
  usage: Usage;
  capabilities: Capabilities;
  logs: string;
  warnings: string[];
}

export interface Success extends OutcomeBase {
  ok: true;
  result: unknown;
}

export interface Failure extends OutcomeBase {
  ok: false;
  error: ErrorBody;
}

export type Outcome = Success | Failure;

export const NO_USAGE: Usage = {
  wall_ms: 0,
  cpu_ms: 0,
  memory_peak_bytes: 0,
  fuel: 0,
  output_bytes: 0,
  host_calls: 0,
};
