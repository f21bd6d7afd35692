/**
 * The one shape every call ends in, success or failure.
 *
 * @module
 */
import type { ErrorBody } from './errors.ts';
import type { ErrorCode } from './vocabulary/error-codes.ts';
import type { CapabilityName } from './vocabulary/capabilities.ts';
import type { Place } from './vocabulary/place.ts';

/**
 * Source of the fresh cell: a process started for the call (`cold`), started ahead of it (`pool`), forked (`zygote`),
 * or a fresh instance inside a process that served earlier calls (`warm`).
 */
export type StartKind = 'cold' | 'pool' | 'zygote' | 'warm';

/** Resources that a call used. */
export interface Usage {
  wall_ms: number;
  cpu_ms: number;
  memory_peak_bytes: number;
  fuel: number;
  output_bytes: number;
  host_calls: number;
}

/** One use or denial of a capability. */
export interface CapabilityEvent {
  capability: CapabilityName;
  /** The attempted act, e.g. `read /etc/passwd` or `connect 127.0.0.1:80`. */
  asked: string;
  /** What the manifest or grant says about it. */
  declared: string;
}

/** Number of events missing from the lists, which are bounded and keep the first of each kind. */
export interface EventsCut {
  used: number;
  denied: number;
}

export interface Capabilities {
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
  /** Absent when the lists are complete. */
  cut?: EventsCut;
}

/** Counts all denials, including those cut from the list. */
export function deniedCount({ denied, cut }: Capabilities): number {
  return denied.length + (cut?.denied ?? 0);
}

/** Where and how a call ran. */
export interface Execution extends Place {
  /** False only in the host process, where earlier calls can leave state behind. */
  fresh: boolean;
  start: StartKind;
  /** Digest of the container image. */
  image?: string;
  /** Digest of the wheels that the requirements resolved to. */
  packages?: string;
  /** sha256 of code that came with the call instead of the bundle. */
  generated?: string;
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
  /** The calls that it made, and those made by them, in order of their end; absent if it made none. */
  children?: ChildCall[];
  /** Number of calls missing from `children`; receipts have them all. */
  children_cut?: number;
  /** Which skills with network or secrets may have seen data of which others. */
  flows?: DataFlow[];
}

/** One call that another call made. Its receipt says the rest. */
export interface ChildCall {
  call_id: string;
  /** The call that made it. */
  parent: string;
  depth: number;
  skill: string;
  digest: string;
  code: ErrorCode | 'ok';
  wall_ms: number;
}

/** Everything that a call was given before it calls a skill may be in the parameters. */
export interface DataFlow {
  to: string;
  from: string[];
}

/** The outcome of a call that succeeded. */
export interface Success extends OutcomeBase {
  ok: true;
  result: unknown;
}

/** The outcome of a call that failed. */
export interface Failure extends OutcomeBase {
  ok: false;
  error: ErrorBody;
}

/** The outcome of a call. */
export type Outcome = Success | Failure;

export const NO_USAGE: Usage = {
  wall_ms: 0,
  cpu_ms: 0,
  memory_peak_bytes: 0,
  fuel: 0,
  output_bytes: 0,
  host_calls: 0,
};
