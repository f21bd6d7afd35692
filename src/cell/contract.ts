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
  /** Only for what belongs to the runtime itself, such as the socket folder of a zygote. */
  writable?: boolean;
}

/** What an engine wants to have run inside a wall. */
export interface LaunchSpec {
  /** Absolute program path as seen inside the cell, then its arguments. */
  argv: string[];
  /** The bundle, the harness, the requirements: read-only. */
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
  /**
   * Puts the limits in place that need the process to exist, and checks the mounts. Called with the harness's
   * first frame, before any skill code may run. False when the cell is not what was asked for.
   */
  confine(ready: Record<string, unknown>): boolean;
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
  /** Throws when this grant cannot be put into practice, e.g. for a system call that does not exist. */
  accepts(grant: Grant): void;
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
  /** The first frame for the harness, apart from `preload`. */
  init(grant: Grant): Record<string, unknown>;
}

export interface Engine {
  readonly name: EngineName;
  /** Undefined when this engine can run this bundle here, else why not. */
  refuses(bundle: Bundle): string | undefined;
  prepare(bundle: Bundle): Promise<Artifact>;
  /** Engines that can fork a fresh cell from a warm process that never ran skill code. */
  openZygote?(artifact: Artifact, grant: Grant): Zygote | undefined;
}

/** A warm process that forks cells, each in namespaces of its own. */
export interface Zygote {
  /** False when it could not start. */
  readonly ready: Promise<boolean>;
  readonly isReady: boolean;
  fork(): Promise<CellProcess>;
  close(): void;
}

/** What came back from a cell, before it is judged against the manifest. */
export interface CellReport {
  start: StartKind;
  /** False when the program inside never came up; `logs` then say why. */
  started: boolean;
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
  | {
      kind: 'error';
      type: string;
      message: string;
      trace: string;
      denied?: CapabilityEvent;
      limit?: 'memory' | 'scratch' | 'processes';
    }
  | { kind: 'broken'; message: string };

/** One fresh sandbox for one call. */
export interface Cell {
  call(params: unknown, signal?: AbortSignal): Promise<CellReport>;
  /** Throws it away unused. */
  discard(): void;
}
