/**
 * The joints of a cell. A wall knows nothing of languages, an engine nothing of namespaces:
 * adding a wall or an engine touches one folder.
 *
 * @module
 */
import type { Duplex, Readable } from 'node:stream';
import type { Bundle } from '../load/bundle.ts';
import type { ErrorCode } from '../errors.ts';
import type { CapabilityEvent, EventsCut, EngineName, Execution, StartKind, WallName } from '../outcome.ts';
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
  /** Memory that the program reserves without using it: what it may map beyond the memory limit. */
  reservedBytes?: number;
  /** Address space of the program's own code and libraries. Absent: it reserves so much that its mappings cannot be limited. */
  codeBytes?: number;
  /** Threads of the program itself: what the kernel counts beyond the processes of the skill. */
  reservedThreads?: number;
  /** What the jailed process may keep for itself; only the zygote, which runs no skill code, keeps any. */
  keepNamespaceRights?: boolean;
  /** A gateway waits behind the loopback of the cell; without one it has no sockets at all. */
  gateway?: boolean;
  /** What the root of a container is made of; absent: the programs of the system, as in a jail. */
  image?: CellImage;
  /** Serves one call of its own, so it may be made to step back behind the host and the cells that serve many. */
  stepsBack?: boolean;
  /** The program knows no frames: one JSON value goes in on its standard input, one comes out on its standard output. */
  stdio?: boolean;
}

/** An image, ready to be used. */
export interface CellImage {
  /** What an engine calls it that has loaded it. */
  id: string;
  /** Folder with its unpacked files. */
  rootfs: string;
  /** A tar file for engines that want to load it themselves. */
  archive: () => Promise<string>;
  /** As whom its programs see themselves; never root. */
  user: { uid: number; gid: number };
}

/** Why a wall ended a process, when it did. */
export type KillReason =
  | 'timeout'
  | 'memory'
  | 'cpu'
  | 'output'
  | 'scratch'
  | 'aborted'
  | 'protocol'
  | 'done';

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
  confine(ready: Record<string, unknown>): Promise<boolean>;
  /** Ends the process and everything it started. The first reason is kept. */
  kill(reason: KillReason): void;
  readonly killReason: KillReason | undefined;
  usage(): ProcessUsage;
  /** Why it did not come up, or what befell whoever kept it, where its wall can tell. Logs are trusted before a start alone. */
  fault?(state: { started: boolean; logs: string }): LaunchFault | undefined;
}

/** A cell that never came up, for a reason that has a fix. */
export interface LaunchFault {
  code: ErrorCode;
  message: string;
  fix: string;
}

/** One wall, as it is on this machine. */
export interface Wall {
  readonly name: WallName;
  /** Tries the wall for real and says what it enforces here. Never guesses. */
  probe(): Promise<WallProbe>;
  /** Throws when this grant cannot be put into practice, e.g. for a system call that does not exist. */
  accepts(grant: Grant): void;
  launch(spec: LaunchSpec, grant: Grant): CellProcess;
  /** As whom a cell with this grant runs; undefined for the host's own user. */
  identity(grant: Grant): { uid: number; gid: number } | undefined;
  /** For a wall that comes in several makes: the one that this bundle runs behind. */
  forBundle?(bundle: Bundle): Promise<Wall>;
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
  /** Digests of what it takes from this machine besides the bundle. */
  readonly uses?: Pick<Execution, 'image' | 'packages'>;
  spec(grant: Grant): LaunchSpec;
  /** The first frame for the harness, apart from `preload`. */
  init(grant: Grant): Record<string, unknown>;
  /** Takes what a cell handed over when it had loaded the skill, before any call: untrusted, and for its like alone. */
  keep?(grant: Grant, bytes: Uint8Array): void;
  /** The limit that ended a process from within, where the engine can tell by how it ended. */
  limitBehind?(exit: ExitInfo, logs: string): GuestLimit | undefined;
}

export interface Engine {
  readonly name: EngineName;
  /** True when one process serves many calls and each is fresh inside it; else a process serves one call. */
  readonly reusable: boolean;
  /** A reusable process is busy with itself for so long after a reply that calls in a row should take turns between two. */
  readonly takesTurns?: boolean;
  /** Who enforces what when this engine runs inside a wall with this table. */
  enforces(wall: EnforcementTable): EnforcementTable;
  /** Variables that every cell of this engine has, whatever is declared. */
  fixedEnv(grant: Grant): Readonly<Record<string, string>>;
  /** What the engine consists of, for `doctor`. */
  describe(): string;
  /** What this machine lacks to run it at all. */
  missing(): { reason: string; fix: string } | undefined;
  /** Undefined when this engine can run this bundle, else why not. */
  refuses(bundle: Bundle): string | undefined;
  /** What this bundle needs and is not here, such as its image; another mode may do without it. */
  lacks?(bundle: Bundle): Promise<{ reason: string; fix: string } | undefined>;
  prepare(bundle: Bundle): Promise<Artifact>;
  /** Engines that can fork a fresh cell from a warm process that never ran skill code. */
  openZygote?(artifact: Artifact, grant: Grant): Zygote | undefined;
  /** Runs a call as a part of the host. Only where there is no wall, for code that is trusted like the host itself. */
  callInHost?(artifact: Artifact, grant: Grant, job: Job): Promise<CellReport>;
}

/** What a call brings along. */
export interface Job {
  /** A value, or the text of a large one. */
  params: unknown;
  signal?: AbortSignal | undefined;
  /** Rejects when the call fails by a fault of ours: its place is given back then, whatever its cell does. */
  failed?: Promise<never> | undefined;
  /** Values by name, for the broker alone: nothing of them goes into a cell. */
  secrets?: ReadonlyMap<string, string> | undefined;
  /** Added to every request of the call that the broker makes or reads: the trace, where the operator lets it out. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Hears what the skill prints while it runs, as far as it is kept. Absent: nobody listens. */
  onLog?: ((chunk: Buffer) => void) | undefined;
}

/** What of a job is for the host alone. */
export type JobExtras = Omit<Job, 'params' | 'signal'>;

/** A warm process that forks cells, each in namespaces of its own. */
export interface Zygote {
  /** False when it could not start. */
  readonly ready: Promise<boolean>;
  readonly isReady: boolean;
  /** Whoever ended it: there will be no fork of it any more. */
  readonly hasEnded: boolean;
  /** After so many forks it is replaced; absent: as often as usual. */
  readonly maxForks?: number;
  /** A folder for the gateway of the next fork; the fork that is given it sees it, and no other does. */
  gatewayFolder(): string;
  fork(gatewayFolder?: string): Promise<CellProcess>;
  close(): void;
}

/** The holder of authority for one call. It lives in the host; a cell reaches it through frames. */
export interface CallBroker {
  /** Does what the guest asks for, as far as the grant goes. Rejects with a `BrokerRefusal`. */
  handle(request: BrokerRequest): Promise<BrokerReply>;
  readonly used: CapabilityEvent[];
  readonly denied: CapabilityEvent[];
  /** Events that are not in the lists. */
  readonly cut?: EventsCut;
  /** Lets go of everything the call still holds. */
  close(): void;
}

export interface BrokerRequest {
  op: string;
  args: Record<string, unknown>;
  payload?: Uint8Array;
}

export interface BrokerReply {
  value: Record<string, unknown>;
  payload?: Uint8Array;
}

/** A request that the broker turned down: an error code in the words of POSIX, or `denied`. */
export class BrokerRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The way out of one native cell, which cannot ask by frames: a proxy on a unix socket. It is there before the process
 * is, serves no other, and ends with its call.
 */
export interface CellGateway {
  /** On the host; the cell sees it. It holds the socket, and the certificates that the cell trusts. */
  readonly folder: string;
  readonly used: CapabilityEvent[];
  readonly denied: CapabilityEvent[];
  /** Events that are not in the lists. */
  readonly cut?: EventsCut;
  /** Hands over what belongs to the call: the values of its secrets by name, and headers to add to its requests. */
  arm(values: ReadonlyMap<string, string>, headers?: Readonly<Record<string, string>>): void;
  /** Nothing passes any more, and nothing is left behind. */
  close(): void;
}

export interface GatewayRequest {
  grant: Grant;
  /** What the cell holds instead of its secrets, by name. */
  placeholders: Readonly<Record<string, string>>;
  /** As whom the cell runs; undefined for the host's own user. */
  uid: number | undefined;
  /** Where to put it; absent: wherever there is room. */
  folder?: string | undefined;
}

export type OpenGateway = (request: GatewayRequest) => CellGateway;

export type OpenBroker = (grant: Grant, bundle: Bundle, options?: OpenBrokerOptions) => CallBroker;

export interface OpenBrokerOptions {
  secrets?: CallSecrets;
  /** Added to every request of the call. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The secrets of one call: what its cell holds instead of them, and what they are. Both by name. */
export interface CallSecrets {
  placeholders: Readonly<Record<string, string>>;
  values: ReadonlyMap<string, string>;
}

/** What came back from a cell, before it is judged against the manifest. */
export interface CellReport {
  start: StartKind;
  /** False when the program inside never came up; `logs` then say why. */
  started: boolean;
  reply: GuestReply | undefined;
  exit: ExitInfo | undefined;
  killReason: KillReason | undefined;
  /** Why the program inside never came up or was lost, where that is known and no fault of the skill. */
  fault?: LaunchFault | undefined;
  denied: CapabilityEvent[];
  used: CapabilityEvent[];
  /** Events that are not in the lists. */
  cut?: EventsCut;
  logs: string;
  logBytes: number;
  resultBytes: number;
  wallMs: number;
  usage: ProcessUsage;
  fuel: number;
  hostCalls: number;
}

/** Limits that a guest notices first. */
export const GUEST_LIMITS = [
  'memory',
  'scratch',
  'processes',
  'output',
  'fuel',
  'handles',
  'host_calls',
] as const;

export type GuestLimit = (typeof GUEST_LIMITS)[number];

/**
 * How far a harness followed a failure back: to none of the denials that it saw itself (`inside`), or to nothing that any
 * denial could be behind (`wholly`).
 */
export type Explained = 'inside' | 'wholly';

export type GuestReply =
  | { kind: 'result'; value: unknown; warnings: string[] }
  | {
      kind: 'error';
      type: string;
      message: string;
      trace: string;
      denied?: CapabilityEvent;
      explained?: Explained;
      limit?: GuestLimit;
    }
  | { kind: 'broken'; message: string }
  /** Too large for the thread of the event loop: nobody has parsed it yet. */
  | { kind: 'unread'; form: UnreadForm; bytes: Uint8Array; denials?: Denials };

/** Denials of a call, by who saw them. */
export interface Denials {
  byHost: CapabilityEvent[];
  inside: CapabilityEvent[];
}

/** What unread bytes hold: the frame of a reply (`result`, `error`), or the JSON of a result alone. */
export type UnreadForm = 'result' | 'error' | 'value';

/** One fresh sandbox for one call. */
export interface Cell {
  call(params: unknown, signal?: AbortSignal): Promise<CellReport>;
  /** Throws it away unused. */
  discard(): void;
}
