/**
 * The frames between a cell and the host, typed once for both ends: u32 little-endian length, one UTF-8 JSON object with
 * its kind as `t`, and as many raw bytes as its `payload_bytes` says.
 *
 * Only types. A cell trusts the host; the host trusts nothing, and reads all fields as `Unchecked`.
 *
 * @module
 */

/** Fields from an untrusted sender. Each may be missing or have any type. */
export type Unchecked<Fields> = { [Name in keyof Fields]?: unknown };

/** Union of the frames in a table. */
export type FrameOf<Frames> = { [Kind in keyof Frames]: { t: Kind } & Frames[Kind] }[keyof Frames];

interface NoFields {
  /** Number of raw bytes that follow. */
  payload_bytes?: number;
}

/** A denied act; or an allowed one, if the host records what a skill needs. */
export interface CapabilityFields {
  capability: string;
  asked: string;
  declared: string;
}

/** Why a call failed. */
export interface FailureFields {
  type: string;
  message: string;
  trace?: string;
  /** The denial that caused it, if the cell knows. */
  denied?: CapabilityFields;
  /** `wholly`: no denial caused it. `inside`: no denial of the cell's own checks did, but one of the host may have. */
  explained?: 'inside' | 'wholly';
  /** The exceeded limit that caused it. */
  limit?: string;
}

/** Usage of one call, as counted by a reusable cell. */
export interface UsageFields {
  fuel?: number;
  memory_bytes?: number;
  cpu_us?: number;
}

/** From a cell that serves one call. */
export interface SingleUseFrames {
  ready: NoFields;
  /** The module body has run before the call. */
  loaded: NoFields;
  denied: CapabilityFields;
  used: CapabilityFields;
  /** A request about skills, optionally with raw bytes; only if the grant has skills. Everything else needs no request. */
  ask: AskFields & { id: number };
  /** A large value may follow as raw bytes instead. */
  result: { value?: unknown };
  error: FailureFields;
}

/** From a cell that serves many calls, one at a time. */
export interface ReusableFrames {
  ready: NoFields;
  /** Raw bytes: an image of the skill, for other cells of the same skill and grant. */
  loaded: NoFields;
  /** The skill cannot be loaded. */
  failed: FailureFields;
  /** Raw bytes: output of the skill. Cells of commands tell its streams apart. */
  log: { stream?: StreamName };
  denied: CapabilityFields;
  used: CapabilityFields;
  /** A request to the broker, optionally with raw bytes. */
  ask: AskFields & { id: number };
  /** Raw bytes: the value as JSON. */
  result: { call: number } & UsageFields;
  /** `exits`: the process of the cell cannot serve another call. */
  error: { call: number; exits?: true } & UsageFields & FailureFields;
  /** A command ended by itself. `exits`: and with it the process of the cell. */
  ended: { call: number; exits?: true } & UsageFields & ExitFields;
}

export type StreamName = 'stdout' | 'stderr';

export interface ExitFields {
  exit_code: number;
}

export interface AskFields {
  op: string;
  args: Record<string, unknown>;
}

/**
 * Calls of other skills: requests to the broker of every cell, in every engine that has frames.
 *
 * - `name` is `category/name` for a skill. A name without a slash is a function of the host.
 * - The parameters are raw bytes behind the request: JSON, an object. The result is raw bytes behind the reply: JSON.
 * - A call that was refused or failed is an answer with `ok: false`, never a code of the reply; a code (`inval`, `nosys`)
 *   means that the request itself was malformed.
 * - `skill.start` answers at once; `skill.wait` answers when any of the named calls, or of all if none are named, has
 *   ended. Each answer is delivered once. After `timeout_ms`, the answer is empty. `inval`: nothing is left to wait for.
 * - `skill.cancel` cancels a started call; its answer then has the code `cancelled`.
 * - When the call ends, everything it started and did not wait for is cancelled.
 */
export interface SkillRequests {
  'skill.call': { args: { name: string }; answer: SkillAnswer };
  'skill.start': { args: { name: string }; answer: { call: number } };
  'skill.wait': {
    args: { calls?: number[]; timeout_ms?: number };
    answer: ({ call: number } & SkillAnswer) | Record<string, never>;
  };
  'skill.cancel': { args: { call: number }; answer: Record<string, never> };
}

/** How a call of another skill ended. The fields become an exception in the guest: `SkillCallError`. */
export type SkillAnswer =
  /** Raw bytes: the result as JSON. */
  { ok: true } | { ok: false; code: string; message: string; fix: string };

/**
 * Parameters of a program: the call of a cell whose bundle is one of `guest/programs/`. In scope of the source are `input`,
 * `skills` and `functions`; in both languages what it returns is the result.
 */
export interface ProgramParams {
  source: string;
  input: unknown;
}

/** From Python in Wasm to the program around it, which forwards what the host may see. */
export interface InnerPythonFrames {
  denied: CapabilityFields;
  used: CapabilityFields;
  ask: AskFields;
  result: NoFields;
  error: FailureFields;
  ended: ExitFields;
}

/** From the process that forks cells. */
export interface ZygoteFrames {
  ready: NoFields;
  listening: NoFields;
  forked: { id: string; pid: number };
  exit: { id: string; code: number; signal: number };
}

/** To a cell that serves one call. */
export interface ToSingleUse {
  /** To a fork only the `StartFields`: its zygote has the rest. */
  init: EngineInit & StartFields;
  /** `command` is set for cells of scripts; its standard input is in the parameters. */
  call: { params: unknown; command?: CommandStart };
  /** Answers the request with this id, optionally with raw bytes. */
  reply: ReplyFields;
}

/** What a cell of scripts starts. Paths are those of the cell. */
export interface CommandStart {
  start:
    | { run: 'file'; path: string }
    | { run: 'module'; name: string }
    /** Without `source`, the standard input is the source. */
    | { run: 'source'; name: string; source?: string }
    | { run: 'program'; path: string };
  args: readonly string[];
}

export interface StartFields {
  /** Whether to run the module body before the call. */
  preload: boolean;
  /** Placeholders of secrets. */
  env: Record<string, string>;
}

/** To a cell that serves many calls, one at a time. */
export interface ToReusable {
  /** Raw bytes: what an earlier cell of the same kind sent with `loaded`, if anything. */
  init: EngineInit;
  /** Raw bytes: the parameters as JSON, or `{ params, command }` for cells of commands. */
  call: { call: number };
  /** Answers the request with this id, optionally with raw bytes. */
  reply: ReplyFields;
}

export type ReplyFields = { id: unknown; value: Record<string, unknown> } | { id: unknown; code: string };

/** To the process that forks cells. */
export interface ToZygote {
  init: {
    modules: string[];
    siblings: (string | undefined)[];
    limits: { memory: number; cpu: number; scratch: number; file_size: number };
    masked: readonly string[];
    gateway: boolean;
    /** What the zygote installs on itself, and what each fork adds. */
    filter: string;
    fork_filter: string;
    /** What every fork is told. */
    cell: EngineInit;
  };
  kill: { id: string };
}

/** The engine-specific part of the first frame to a cell. */
export type EngineInit =
  | ComponentInit
  | JsInit
  | PythonWasmInit
  | NodeInit
  | PythonInit
  | ScriptInit
  | NoFields;

/** A granted directory. `id` is a handle that the broker opens at the start of each call. */
export interface Preopen {
  id: number;
  guestPath: string;
  writable: boolean;
}

export interface ComponentInit {
  env: Record<string, string>;
  preopens: Preopen[];
  limits: { pages: number; output: number; fuel: number };
}

export interface JsInit {
  /** Path of the skill's module inside the bundle. */
  entry: string;
  limits: { pages: number; output: number; fuel: number };
  /** Folders and files that the skill may read. */
  preopens: Preopen[];
  /** For the prelude. */
  prelude: PreludeInit;
  /** The source of the module comes with each call, as `ProgramParams`. */
  program?: true;
}

export interface PreludeInit {
  env: Record<string, string>;
  /** Names that the manifest declares, with or without a value. */
  declaredEnv: string[];
  /** Whether the needs of the skill are recorded. */
  observe: boolean;
  /** The call may call other skills: `skills` and `functions` are defined. */
  skills?: true;
}

export interface PythonWasmInit {
  fresh: Freshness;
  /** The cell sends its image with `loaded` if it is not larger than this; 0: never. */
  keepBytes: number;
  limits: { pages: number; output: number; scratch: number };
  preopens: Preopen[];
  harness: InnerPythonInit;
  /** The working directory; absent: the bundle. */
  cwd?: string;
}

/** Stricter resets between calls, if the operator asks for them. */
export interface Freshness {
  /** Every call gets a new instance of the engine instead of only restored memory. */
  newInstance: boolean;
  /** Every call runs the module body itself. */
  strict: boolean;
}

/** The host's grant, with paths as seen inside the cell. */
export interface View {
  read: string[];
  write: string[];
  processes: boolean;
  env: string[];
  observe: boolean;
}

export interface NodeInit {
  entry: string;
  /** The call may call other skills: `skills` and `functions` are defined. */
  skills?: true;
  /** The source of the module comes with each call, as `ProgramParams`. */
  program?: true;
  view: View;
  /** Port of the gateway inside the cell; 0 without a gateway. */
  proxy_port: number;
}

/** First frame for the Python harness that runs a script itself, or starts a program. */
export interface ScriptInit {
  task: 'script';
  view: View;
  proxy_port: number;
  /** A seccomp filter in hex. */
  lockdown: string;
}

/** First frame for the Python harness in both Python engines. */
export interface HarnessInit {
  task: 'call';
  entry: string;
  view: View;
  manifest: Record<string, unknown>;
  /** The call may call other skills: `skills` and `functions` are defined. */
  skills?: true;
}

/** Parses source without running it. */
export interface InspectInit {
  task: 'inspect';
}

export type PythonInit =
  | InspectInit
  | (HarnessInit & {
      proxy_port: number;
      /** A seccomp filter in hex that the harness installs before it loads the skill. */
      lockdown: string;
    });

export type InnerPythonInit = { env: Record<string, string> } & (
  | InspectInit
  | { task: 'script'; view: View; network: boolean }
  | (HarnessInit & {
      network: boolean;
      /** Names in the bundle that shadow modules of the standard library. */
      siblings: (string | undefined)[];
    })
);
