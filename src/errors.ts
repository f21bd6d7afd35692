/**
 * Every way a call can fail. One class, a closed list of codes, and each message says
 * what happened, why, and how to fix it.
 *
 * @module
 */
import type { Failure } from './outcome.ts';

/** Exit code of the CLI for each error code. A new code is added here and nowhere else. */
export const EXIT_CODES = {
  /** The skill raised, or returned what its `outputs` forbid. */
  skill_error: 1,
  /** The command or library call itself is wrong. Nothing ran. */
  usage: 2,
  /** The parameters break the skill's schema, or are no JSON at all. Nothing ran. */
  invalid_params: 2,
  /** The manifest or the bundle is malformed. Nothing ran. */
  manifest_invalid: 2,
  /** The code and the manifest (or its lock) do not agree. Nothing ran. */
  manifest_drift: 2,
  /** A limit or capability is declared that nobody can enforce here. Nothing ran. */
  unenforceable: 2,
  /** The skill tried something that was not declared or not granted. */
  capability_denied: 3,
  /** A limit was hit: `detail.limit` names it. */
  resource_exceeded: 4,
  /** The origin of the skill does not allow this mode. Nothing ran. */
  untrusted: 5,
  /** A human has to approve the capability set first. Nothing ran. */
  approval_required: 5,
  /** The signature is missing or does not fit. Nothing ran. */
  signature_invalid: 5,
  /** The skill is unknown, or its mode is not available on this machine. */
  skill_unavailable: 6,
  /** A fault of Skillcell itself. */
  internal: 70,
  /** The caller gave the call up: Ctrl-C, a closed connection, an abort signal. Nothing of it is left. */
  cancelled: 130,
} as const;

export type ErrorCode = keyof typeof EXIT_CODES;

/** Names of the limits that `resource_exceeded` can report. */
export type LimitName =
  | 'timeout'
  | 'cpu'
  | 'fuel'
  | 'memory'
  | 'output'
  | 'processes'
  | 'scratch'
  | 'handles'
  | 'host_calls'
  | 'busy';

/** What the error carries besides its text; the same object goes into the outcome. */
export interface ErrorBody {
  code: ErrorCode;
  /** What happened and why. */
  message: string;
  /** What the reader can do about it. */
  fix: string;
  detail: Record<string, unknown>;
}

export interface SkillErrorOptions {
  fix: string;
  detail?: Record<string, unknown>;
  cause?: unknown;
}

/** The one error class of Skillcell. `code` tells what happened, `fix` what to do. */
export class SkillError extends Error {
  override readonly name = 'SkillError';
  readonly code: ErrorCode;
  readonly fix: string;
  readonly detail: Record<string, unknown>;
  /** The whole outcome of the call, when a call was made. */
  outcome?: Failure;

  constructor(code: ErrorCode, message: string, options: SkillErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.detail = options.detail ?? {};
  }

  get exitCode(): number {
    return EXIT_CODES[this.code];
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, fix: this.fix, detail: this.detail };
  }

  /** The error of a failed call, with everything that is known of the call. */
  static fromOutcome(outcome: Failure): SkillError {
    const { code, message, fix, detail } = outcome.error;
    const error = new SkillError(code, message, { fix, detail });
    error.outcome = outcome;
    return error;
  }
}

/** Any thrown value as a SkillError: what we did not expect is our own fault and says so. */
export function toSkillError(thrown: unknown): SkillError {
  if (thrown instanceof SkillError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new SkillError('internal', `Skillcell failed unexpectedly: ${text}`, {
    fix: 'Please report this with the command you ran and the output of `skillcell doctor`.',
    detail: thrown instanceof Error && thrown.stack ? { stack: thrown.stack } : {},
    cause: thrown,
  });
}

/**
 * Owns work that nobody waits for. What it throws would end the host; it is a warning instead, and `onFault` ends whatever
 * the work was for, e.g. a cell.
 */
export function unattended(work: Promise<unknown> | undefined, onFault?: () => void): void {
  if (!work) return;
  work.catch((error: unknown) => {
    process.emitWarning(error instanceof Error ? error : String(error), 'SkillcellWarning');
    onFault?.();
  });
}
