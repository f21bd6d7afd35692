/**
 * What a runtime and its calls can be told.
 *
 * @module
 */
import type { Skill } from './load/skill.ts';
import type { AuditOptions } from './audit/receipts.ts';
import type { EgressOptions } from './broker/gateway/egress.ts';
import type { SecretCallback, SecretProvider } from './broker/secrets/providers.ts';
import type { CallListener } from './calls/events.ts';
import type { ContainerWallOptions } from './cell/container/contract.ts';
import type { JailOptions } from './cell/jail/wall.ts';
import type { PlanOptions } from './cell/plan.ts';
import type { PoolOptions } from './cell/pool.ts';
import { SkillError } from './errors.ts';
import type { OperatorPolicy } from './policy/operator.ts';
import type { Allowed } from './record/observation.ts';
import type { TraceContext } from './telemetry/telemetry.ts';
import type { AskPerson } from './trust/admission.ts';
import type { Guard } from './trust/guard.ts';

export interface RuntimeOptions {
  /** Folder for the store, installed packages and the audit log. */
  home?: string;
  /** Where the project's own skills are looked for. */
  cwd?: string;
  policy?: OperatorPolicy;
  pool?: PoolOptions;
  jail?: JailOptions;
  /** Which container engines may be used, and how they are reached. */
  container?: ContainerWallOptions;
  audit?: AuditOptions;
  /** Who calls, for guards and receipts; a call may say it itself. */
  caller?: string;
  /** Where values of declared variables come from. */
  env?: Record<string, string | undefined>;
  /**
   * Variables and secrets that also go to skills which nobody approved and no policy names them for, when they declare
   * them. `all` is for an `env` that holds nothing else than what skills may have.
   */
  allowEnv?: readonly string[] | 'all';
  /** Where values of secrets come from, in order; absent: what the policy says, else `env`. */
  secrets?: SecretProvider | SecretCallback | (SecretProvider | SecretCallback)[];
  /** How hosts are reached: names, certificates, caps. */
  network?: EgressOptions;
  /** Gets a sentence for people when something takes more than a moment, such as preparing an engine. */
  onProgress?: (text: string) => void;
  /** Decides on every call before it is made; can only be stricter than the policy. */
  guard?: Guard;
  /** Asks the person in front of it. Only for a front end that has one: an agent must never answer here. */
  askPerson?: AskPerson;
}

export interface ExecuteOptions extends PlanOptions {
  /** Who makes this call, for the receipt and the guards; absent: the caller of the runtime. */
  caller?: string;
  /** Aborting it ends the call and kills its cell. */
  signal?: AbortSignal;
  /** The trace that this call belongs to; absent: the active one, if there is any. */
  trace?: TraceContext;
  /** Hears every event of this call alone. */
  onEvent?: CallListener;
  /**
   * From a dispatcher that puts calls in a line: the call counts as made, waits for it, and gives it back at its end.
   * If it is rejected, the call ends with that error. Its tenant shares worker threads with others.
   */
  turn?: Promise<Disposable & { readonly tenant?: string }>;
  /** Gives the skill of a ref when the call has its turn; absent: the runtime reads it. For who keeps skills that were read. */
  load?: (ref: string) => Promise<Skill>;
  /** `false` returns a failed outcome instead of throwing. */
  reject?: boolean;
}

export interface RecordOptions extends Omit<ExecuteOptions, 'reject'> {
  /** What may happen in the observed call; absent: nothing. */
  allow?: Allowed;
}

/** Everything in the environment of the process is more than anybody means. */
export function assertOwnEnv({ allowEnv, env }: RuntimeOptions): void {
  if (allowEnv !== 'all' || (env !== undefined && env !== process.env)) return;
  throw new SkillError('usage', 'allowEnv "all" is for an environment of your own', {
    fix: 'Pass the values that skills may have as env, or name the variables in allowEnv.',
  });
}

/** What a call was made with. */
export interface Asked {
  params: unknown;
  options: ExecuteOptions;
}
