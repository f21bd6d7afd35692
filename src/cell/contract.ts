/**
 * The interfaces between walls, engines and the host. A wall knows nothing about languages and an engine knows nothing
 * about namespaces, so adding either touches only one folder.
 *
 * @module
 */
import type { EngineInit } from '../../guest/protocol.ts';
import type { Duplex, Readable } from 'node:stream';
import type { Bundle } from '../load/bundle.ts';
import type { ErrorCode } from '../vocabulary/error-codes.ts';
import type { CapabilityEvent, EventsCut, Execution, StartKind } from '../outcome.ts';
import type { EngineName } from '../vocabulary/engines.ts';
import type { OutputStream } from '../vocabulary/streams.ts';
import type { WallName } from '../vocabulary/walls.ts';
import type { GuestReply } from './guest-reply.ts';
import type { InnerCalls, InnerRefusal } from './inner-calls.ts';
import type { Command, ParsedCommand } from '../policy/commands/command.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { Grant } from '../policy/grant.ts';
import type { GuestLimit, HostLimit } from '../vocabulary/limits.ts';

export type { Denials, EndedCommand, Explained, GuestReply, UnreadForm } from './guest-reply.ts';
export type { InnerAnswer, InnerCalls, InnerRefusal, SkillAnswer } from './inner-calls.ts';

/** A host path that the cell sees in addition to the granted paths. */
export interface Mount {
  host: string;
  guest: string;
  /** Only for paths of the runtime itself, such as the socket folder of a zygote. */
  writable?: boolean;
}

/** The program that an engine runs inside a wall. */
export interface LaunchSpec {
  /** Absolute program path as seen inside the cell, then its arguments. */
  argv: string[];
  /** The bundle, the harness and the requirements, all read-only. */
  mounts: Mount[];
  /** Fixed variables of the engine; the wall adds the granted ones. */
  env: Record<string, string>;
  cwd: string;
  /** Memory that the program reserves without using; it may map this much beyond the memory limit. */
  reservedBytes?: number;
  /** Address space of the program's code and libraries. Absent: it reserves too much for its mappings to be limited. */
  codeBytes?: number;
  /** Threads of the program itself, which the kernel counts in addition to the processes of the skill. */
  reservedThreads?: number;
  /** Keeps the capabilities to create namespaces. Only for the zygote, which runs no skill code. */
  keepNamespaceRights?: boolean;
  /** A gateway listens on the loopback of the cell; without one the cell cannot open sockets. */
  gateway?: boolean;
  /** The root of a container; absent: the programs of the host system, as in a jail. */
  image?: CellImage;
  /** Serves a single call, so it may run at a lower priority than the host and cells that serve many calls. */
  lowPriority?: boolean;
  /**
   * The program starts a process of ours and then forbids processes itself, if the grant allows none; the wall must not
   * forbid them before.
   */
  confinesItself?: boolean;
  /** The program does not speak frames: it reads one JSON value from stdin and writes one to stdout. */
  stdio?: boolean;
}

/** An image that is ready to use. */
export interface CellImage {
  /** Its name in a container engine that has loaded it. */
  id: string;
  /** Folder with its unpacked files. */
  rootfs: string;
  /** Path of a tar file, for container engines that load images themselves. */
  archive: () => Promise<string>;
  /** The user that its programs run as inside the container; never root. */
  user: { uid: number; gid: number };
}

/** Why a wall killed a process. */
export type KillReason = HostLimit | 'aborted' | 'protocol' | 'done';

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
  /** Resolves when the process and all of its descendants are gone. */
  readonly exited: Promise<ExitInfo>;
  /**
   * Sets the limits that need a running process, and checks the mounts. Called after the harness's first frame, before
   * any skill code may run. Returns false if the cell differs from the request.
   */
  confine(): Promise<boolean>;
  /** Kills the process and all of its descendants. The first reason is kept. */
  kill(reason: KillReason): void;
  readonly killReason: KillReason | undefined;
  usage(): ProcessUsage;
  /**
   * Tells whether it only waits. Its limits may then be checked less often, where the kernel enforces them. It starts
   * as one that does not wait.
   */
  rest?(isResting: boolean): void;
  /** Memory that would be freed with it; absent: the wall cannot tell. */
  privateBytes?(): number | undefined;
  /** Why the process failed to start, or how its supervisor died, if the wall knows. Logs are trusted only before the start. */
  fault?(state: { started: boolean; logs: string }): LaunchFault | undefined;
}

/** A known reason why a cell failed to start, with its fix. */
export interface LaunchFault {
  code: ErrorCode;
  message: string;
  fix: string;
}

/** One kind of isolation, as this machine provides it. */
export interface Wall {
  readonly name: WallName;
  /** Starts the wall for real and reports what it enforces here. Never guesses. */
  probe(): Promise<WallProbe>;
  /** Throws if this grant cannot be enforced, e.g. because it names a system call that does not exist. */
  accepts(grant: Grant): void;
  launch(spec: LaunchSpec, grant: Grant): CellProcess;
  /** The user that a cell with this grant runs as; undefined for the host's own user. */
  identity(grant: Grant): { uid: number; gid: number } | undefined;
  /** For a wall with several backends: the one that runs this bundle. */
  forBundle?(bundle: Bundle): Promise<Wall>;
  close(): Promise<void>;
}

export interface WallProbe {
  available: boolean;
  /** Version and findings if available, otherwise what is missing. */
  summary: string;
  /** The machine was too busy to tell, so the next probe tries again. Never a reason to use a weaker wall. */
  isTemporary?: boolean;
  fix?: string;
  enforces: EnforcementTable;
}

/** A bundle prepared by an engine: everything needed to start it any number of times. */
export interface Artifact {
  readonly engine: EngineName;
  readonly bundle: Bundle;
  /** Digests of the image and packages that it uses from this machine. */
  readonly uses?: Pick<Execution, 'image' | 'packages'>;
  /** Settings of the operator that its cells were started with; calls with other settings get other cells. */
  readonly settings?: unknown;
  spec(grant: Grant): LaunchSpec;
  /** For processes that start before it is known which skill they will run; absent: each skill needs its own from the start. */
  readonly unbound?: UnboundStart;
  /** The first frame for the harness, without `preload`. */
  init(grant: Grant): EngineInit;
  /** Stores what a cell handed over after loading the skill, before any call, for later cells of the same kind. Untrusted. */
  keep?(grant: Grant, bytes: Uint8Array): void;
  saved?(grant: Grant): Promise<Uint8Array | undefined>;
  /** Throws `invalid_params` if the engine cannot pass parameters of this size to the program. */
  acceptsParams?(bytes: number, grant: Grant): void;
  /** The program has no harness: its exit status is all it can say about a failure. */
  readonly failsByExit?: boolean;
  /** Infers the limit that a process hit from how it exited, if the engine can. */
  limitBehind?(exit: ExitInfo, logs: string): GuestLimit | undefined;
  /** Its process is a command: the exit status and the output are the result. */
  readonly isCommand?: true;
}

/** A start in two steps: a process of the engine, and later the skill that it runs. */
export interface UnboundStart {
  /** The launch spec, with mounts of folders in `place` that stay empty until the skill is known. */
  spec(grant: Grant, place: string): LaunchSpec;
  /** Puts the files of the skill into these folders. */
  fill(grant: Grant, place: string): void;
}

export interface Engine {
  readonly name: EngineName;
  /** True if one process serves many calls, each with fresh state; otherwise a process serves one call. */
  readonly reusable: boolean;
  /** A reusable process needs so long to reset after a reply that back-to-back calls should alternate between two. */
  readonly takesTurns?: boolean;
  /** What enforces each field when this engine runs inside a wall with this table. */
  enforces(wall: EnforcementTable): EnforcementTable;
  /** Variables that every cell of this engine has, regardless of the manifest. */
  fixedEnv(grant: Grant, bundle: Pick<Bundle, 'kind'>): Readonly<Record<string, string>>;
  /** Describes the engine for `doctor`. */
  describe(): string;
  /** Why this machine cannot run the engine at all. */
  missing(): { reason: string; fix: string } | undefined;
  /** Why this engine cannot run this bundle, or this command of it; undefined if it can. */
  refuses(bundle: Bundle, command?: ParsedCommand): string | undefined;
  /** A missing dependency of this bundle, such as its image; another mode may not need it. */
  lacks?(bundle: Bundle): Promise<{ reason: string; fix: string } | undefined>;
  /** For engines whose programs are not those of this machine: the path of a program in the cell. */
  findProgram?(bundle: Bundle, name: string): Promise<string>;
  /** `command` is what a call of a skill of kind `script` starts; absent while there is no call. */
  prepare(bundle: Bundle, command?: Command): Promise<Artifact>;
  /** For engines that can fork a fresh cell from a warm process that never ran skill code. */
  openZygote?(artifact: Artifact, grant: Grant): Zygote | undefined;
  /** Runs a call inside the host process. Only without a wall, for code that is trusted as much as the host. */
  callInHost?(artifact: Artifact, grant: Grant, job: Job): Promise<CellReport>;
}

/** Everything needed to start a cell. */
export interface CellParts {
  wall: Wall;
  engine: Engine;
  artifact: Artifact;
  grant: Grant;
  /** The only tenant whose calls may use the cell; absent: calls of no tenant. */
  owner?: string;
}

/** The inputs of one call. */
export interface Job {
  /** A value, or the JSON text of a large one. */
  params: unknown;
  signal?: AbortSignal | undefined;
  /** Rejects if the call fails by a fault of ours: its slot is then released, whatever its cell does. */
  failed?: Promise<never> | undefined;
  /** Values by name, for the broker only; they never enter a cell. */
  secrets?: ReadonlyMap<string, string> | undefined;
  /** Added to every request that the broker makes or reads for the call: the trace, if the operator allows it. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Receives the kept part of the skill's output while it runs. */
  onLog?: OutputListener | undefined;
  /** Number of calls above it; absent: none. Calls of different depths never wait for each other's slots. */
  depth?: number | undefined;
  /** The tree of calls that it belongs to; absent: none is above it. Each tree has a slot of its own at each depth. */
  tree?: string | undefined;
  /** Called when the cell can start. Throws if the call may not run any more, because its tree used up what it had. */
  onTurn?: (() => void) | undefined;
  /** What to start, if the cell is for a command. */
  command?: Pick<Command, 'start' | 'args'> | undefined;
  /** Makes the calls of other skills that it asks for; absent: it may call none. */
  inner?: InnerCalls | undefined;
}

/** Receives output; `stream` is undefined if the engine does not tell the streams apart. */
export type OutputListener = (chunk: Buffer, stream?: OutputStream) => void;

/** The parts of a job that only the host uses. */
export type JobExtras = Omit<Job, 'params' | 'signal'>;

/** A warm process that forks cells, each in its own namespaces. */
export interface Zygote {
  /** False if it could not start. */
  readonly ready: Promise<boolean>;
  readonly isReady: boolean;
  /** True once it has exited for any reason: it will not fork again. */
  readonly hasEnded: boolean;
  /** Memory that it holds. */
  readonly bytes: number;
  /** It is replaced after this many forks; absent: the default number. */
  readonly maxForks?: number;
  /** A folder for the gateway of the next fork. Only the fork that receives it can see it. */
  gatewayFolder(): string;
  fork(gatewayFolder?: string): Promise<CellProcess>;
  close(): void;
}

/** Acts with the authority of one call. It lives in the host; a cell reaches it through frames. */
export interface CallBroker {
  /** Performs the guest's request if the grant allows it. Rejects with a `BrokerRefusal`. */
  handle(request: BrokerRequest): Promise<BrokerReply>;
  readonly used: CapabilityEvent[];
  readonly denied: CapabilityEvent[];
  /** Counts of events that did not fit into the lists. */
  readonly cut?: EventsCut;
  /** The latest calls inside that were refused or failed, as the guest was told. */
  readonly failedInside?: readonly InnerRefusal[];
  /** Releases everything the call still holds. */
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

/** A request that the broker refused, with a POSIX error code or `denied`. */
export class BrokerRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A proxy on a unix socket for one native cell, which cannot reach the broker through frames. It exists before the
 * process, serves no other cell, and ends with its call.
 */
export interface CellGateway {
  /** Host path; mounted into the cell. It holds the socket and the certificates that the cell trusts. */
  readonly folder: string;
  readonly used: CapabilityEvent[];
  readonly denied: CapabilityEvent[];
  /** Counts of events that did not fit into the lists. */
  readonly cut?: EventsCut;
  /** Hands over the secrets of the call by name, and headers to add to its requests. */
  arm(values: ReadonlyMap<string, string>, headers?: Readonly<Record<string, string>>): void;
  /** Stops all traffic and leaves nothing behind. */
  close(): void;
}

export interface GatewayRequest {
  grant: Grant;
  /** Placeholders that the cell holds instead of its secrets, by name. */
  placeholders: Readonly<Record<string, string>>;
  /** The user that the cell runs as; undefined for the host's own user. */
  uid: number | undefined;
  /** Where to create it; absent: in a new run folder. */
  folder?: string | undefined;
}

export type OpenGateway = (request: GatewayRequest) => CellGateway;

/** Opens what a native cell may ask for: calls of skills, and nothing else. */
export type OpenSkills = (grant: Grant, inner: InnerCalls | undefined) => CallBroker;

export type OpenBroker = (grant: Grant, bundle: Bundle, options?: OpenBrokerOptions) => CallBroker;

export interface OpenBrokerOptions {
  secrets?: CallSecrets;
  inner?: InnerCalls | undefined;
  /** Added to every request of the call. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The secrets of one call, by name: the placeholders that its cell holds, and the values. */
export interface CallSecrets {
  placeholders: Readonly<Record<string, string>>;
  values: ReadonlyMap<string, string>;
}

/** The raw outcome of a cell, before it is judged against the manifest. */
export interface CellReport {
  start: StartKind;
  /** False if the program inside failed to start; `logs` then say why. */
  started: boolean;
  reply: GuestReply | undefined;
  exit: ExitInfo | undefined;
  killReason: KillReason | undefined;
  /** Why the program inside failed to start or was lost, if that is known and not the skill's fault. */
  fault?: LaunchFault | undefined;
  denied: CapabilityEvent[];
  used: CapabilityEvent[];
  /** Counts of events that did not fit into the lists. */
  cut?: EventsCut;
  /** The latest calls inside that were refused or failed. */
  failedInside?: readonly InnerRefusal[] | undefined;
  logs: string;
  logBytes: number;
  resultBytes: number;
  wallMs: number;
  usage: ProcessUsage;
  /** The memory of the process is also the engine's own, so a full one proves nothing; the engine reports limits itself. */
  includesEngine?: boolean | undefined;
  fuel: number;
  hostCalls: number;
}

/** One fresh sandbox for one call. */
export interface Cell {
  call(params: unknown, signal?: AbortSignal): Promise<CellReport>;
  /** Destroys the cell without using it. */
  discard(): void;
}
