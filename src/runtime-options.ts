/**
 * Options of a runtime and of its calls.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { FolderDigests } from './load/folder-digests.ts';
import type { SkillPlaces } from './load/locate.ts';
import { KnownPins } from './load/pinned-skills.ts';
import type { Skill } from './load/skill.ts';
import type { AuditOptions } from './audit/receipts.ts';
import type { EgressOptions } from './broker/gateway/egress.ts';
import type { SecretCallback, SecretProvider } from './broker/secrets/providers.ts';
import type { CallListener } from './calls/events.ts';
import type { OnOutput } from './calls/live-call.ts';
import type { ContainerWallOptions } from './cell/walls/container/contract.ts';
import type { JailOptions } from './cell/walls/jail/wall.ts';
import type { PlanOptions } from './policy/plan.ts';
import type { PoolOptions } from './cell/pool/pool.ts';
import { SkillError } from './errors.ts';
import type { OperatorPolicy } from './policy/operator.ts';
import type { Allowed } from './record/observation.ts';
import type { TraceContext } from './telemetry/telemetry.ts';
import type { Above } from './tree/call-tree.ts';
import type { ProgramSpec } from './tree/program-spec.ts';
import { packageRoot } from './package-root.ts';
import { foldersIn, type OfferOptions } from './tools/offered.ts';
import type { AskPerson } from './trust/admission.ts';
import type { Guard } from './trust/guard.ts';
import type { Kind } from './vocabulary/kinds.ts';

/** Options of `createRuntime`. */
export interface RuntimeOptions {
  /** Folder for the store, installed packages and the audit log. */
  home?: string;
  /** The project folder, which may have skills of its own. */
  cwd?: string;
  /** Home of the user, in which agents keep skills (`.agents/skills`, `.claude/skills`, …); absent: no home is searched. */
  userHome?: string | undefined;
  /** Which skills to offer as tools, over MCP and over HTTP; absent: all but the bundled ones, or these if there are no others. */
  offer?: OfferOptions | undefined;
  /** A function is asked when a call starts; the call keeps its answer to the end. */
  policy?: OperatorPolicy | (() => OperatorPolicy);
  pool?: PoolOptions;
  jail?: JailOptions;
  /** Which container engines may be used, and how to reach them. */
  container?: ContainerWallOptions;
  audit?: AuditOptions;
  /** The caller's name for guards and receipts; a call can override it. */
  caller?: string;
  /** Values of declared variables; absent: `process.env`. */
  env?: Record<string, string | undefined>;
  /**
   * Variables and secrets that every skill gets if it declares them, even without an approval or a policy rule. Use `all`
   * only with an `env` in which every value may go to skills.
   */
  allowEnv?: readonly string[] | 'all';
  /** Sources of secret values, in order; absent: those of the policy, or `env`. */
  secrets?: SecretProvider | SecretCallback | (SecretProvider | SecretCallback)[];
  /** How hosts are reached: name lookup, certificates, limits. */
  network?: EgressOptions;
  /** Receives a human-readable sentence when something is slow, such as preparing an engine. */
  onProgress?: (text: string) => void;
  /** Decides on every call before it runs; can only be stricter than the policy. */
  guard?: Guard;
  /** Asks the person at the terminal. Only for interactive front ends: an agent must never answer. */
  askPerson?: AskPerson;
}

/** Options of one call. */
export interface ExecuteOptions extends PlanOptions {
  /** The caller's name for the receipt and the guards; absent: the caller of the runtime. */
  caller?: string;
  /** Id of a call that was accepted elsewhere, for its outcome and receipt; absent: a new one. Never from a client. */
  id?: string;
  /** Aborting it cancels the call and kills its cell. */
  signal?: AbortSignal;
  /** The trace that this call belongs to; absent: the active one, if any. */
  trace?: TraceContext;
  /** Receives every event of this call. */
  onEvent?: CallListener;
  /** Receives the output of this call as it is printed, unchanged. Nothing if the call has secrets. */
  onOutput?: OnOutput;
  /**
   * A turn from a dispatcher. The call is accepted immediately, waits for the turn and releases it at its end. If the
   * promise rejects, the call fails with that error. Worker threads are shared fairly between the tenants of turns.
   */
  turn?: Promise<Disposable & { readonly tenant?: string }>;
  /** Loads the skill when the call has its turn, for example from a cache; absent: the runtime reads it. */
  load?: (ref: string) => Promise<Skill>;
  /** Refuses a skill of any other kind. */
  kind?: Kind;
  /** `false` returns a failed outcome instead of throwing. */
  reject?: boolean;
}

/** A call whose failure is returned instead of thrown. */
export type QuietExecute = ExecuteOptions & { reject: false };

/** Options of one command. */
export interface ExecOptions extends ExecuteOptions {
  /** Text for the standard input of the command. */
  stdin?: string;
}

/** A command whose failure is returned instead of thrown. */
export type QuietExec = ExecOptions & { reject: false };

/** Options of a recorded call. */
export interface RecordOptions extends Omit<ExecuteOptions, 'reject'> {
  /** What the observed call may do; absent: nothing. */
  allow?: Allowed;
}

/** Rejects `all` for the environment of the process, which has more than any skill should get. */
export function assertOwnEnv({ allowEnv, env }: RuntimeOptions): void {
  if (allowEnv !== 'all' || (env !== undefined && env !== process.env)) return;
  throw new SkillError('usage', 'allowEnv "all" needs an env of its own', {
    fix: 'Pass only the values that skills may have as env, or list the variables in allowEnv.',
  });
}

/** The arguments of `execute`. */
export interface CallRequest {
  ref: string | Skill;
  params: unknown;
  options: ExecuteOptions;
  /** Only for a call that another call made. */
  above?: Above;
  /** Only for the call of a program. */
  program?: ProgramSpec;
}

/** Where a runtime finds skills. */
export function placesOf(options: RuntimeOptions, home: string): SkillPlaces {
  const cwd = resolve(options.cwd ?? process.cwd());
  return {
    bundledDir: join(packageRoot(), 'skills'),
    home,
    cwd,
    userHome: options.userHome,
    folders: foldersIn(options.offer?.skills, cwd),
    digestOf: new FolderDigests().digestOf,
    readPins: new KnownPins().read,
  };
}
