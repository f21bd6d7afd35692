/**
 * The joints of a cell. A wall knows nothing of languages, an engine nothing of namespaces:
 * adding a wall or an engine touches one folder.
 *
 * @module
 */
import type { Duplex, Readable } from 'node:stream';
import type { Bundle } from '../load/bundle.ts';
import type { CapabilityEvent, EngineName, StartKind, WallName } from '../outcome.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { Grant } from '../policy/grant.ts';

/** A host path that the cell sees, besides what the grant adds. */
export interface Mount {
  host: string;
  guest: string;
}

/** What an engine wants to have run inside a wall. */
export interface LaunchSpec {
  /** Absolute program path as seen inside the cell, then its arguments. */
  argv: string[];
  /** Read-only mounts: the bundle, the harness, the requirements. */
  mounts: Mount[];
  /** Fixed variables of the engine; the granted ones are added by the wall. */
  env: Record<string, string>;
  cwd: string;
  /** What the jailed process may keep for itself; only the zygote, which runs no skill code, keeps any. */
  keepNamespaceRights?: boolean;
}

/** Why a wall ended a process, when it did. */
export type KillReason = 'timeout' | 'memory' | 'cpu' | 'output' | 'aborted' | 'protocol' | 'done';

export interface ExitInfo {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ProcessUsage {
  cpuMs: number;
  memoryPeakBytes: number;
}

/** A running process behind a wall: one protocol channel, its logs, and the means to end it. */
export interface CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  /** Resolves when the process and everything it started are gone. */
  readonly exited: Promise<ExitInfo>;
  /** Puts the limits in place that need the process to exist. Call before any skill code may run. */
  confine(): void;
  /** Ends the process and everything it started. The first reason is kept. */
  kill(reason: KillReason): void;
  readonly killReason: KillReason | undefined;
  usage(): ProcessUsage;
}

/** One wall, as it is on this machine. */
export interface Wall {
  readonly name: WallName;
  /** Tries the wall for real and says what it enforces here. Never guesses. */
  probe(): Promise<WallProbe>;
  launch(spec: LaunchSpec, grant: Grant): CellProcess;
  close(): Promise<void>;
}

export interface WallProbe {
  available: boolean;
  /** Version and findings when available, else what is missing. */
  summary: string;
  fix?: string;
  enforces: EnforcementTable;
}

/** What an engine made of a bundle: all that is needed to start it, as often as wanted. */
export interface Artifact {
  readonly engine: EngineName;
  readonly bundle: Bundle;
  readonly spec: LaunchSpec;
  /** Handed to the harness in its first frame. */
  readonly init: Record<string, unknown>;
}

export interface Engine {
  readonly name: EngineName;
  /** Can this engine run this bundle at all? Undefined when it can, else why not. */
  refuses(bundle: Bundle): string | undefined;
  prepare(bundle: Bundle): Promise<Artifact>;
}

/** What came back from a cell, before it is judged against the manifest. */
export interface CellReport {
  start: StartKind;
  reply: GuestReply | undefined;
  exit: ExitInfo | undefined;
  killReason: KillReason | undefined;
  denied: CapabilityEvent[];
  logs: string;
  logBytes: number;
  resultBytes: number;
  wallMs: number;
  usage: ProcessUsage;
}

export type GuestReply =
  | { kind: 'result'; value: unknown; warnings: string[] }
  | { kind: 'error'; type: string; message: string; trace: string; denied?: CapabilityEvent; limit?: 'memory' | 'scratch' }
  | { kind: 'broken'; message: string };

/** One fresh sandbox for one call. */
export interface Cell {
  call(params: unknown, signal?: AbortSignal): Promise<CellReport>;
  /** Throws it away unused. */
  discard(): void;
}
