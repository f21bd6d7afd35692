/**
 * Every way a call can fail. One class, a closed list of codes, and each message says
 * what happened, why, and how to fix it.
 *
 * @module
 */
import type { Failure } from './outcome.ts';
import { EXIT_CODES, type ErrorCode } from './vocabulary/error-codes.ts';

/** The error as plain data, as it appears in an outcome. */
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

/** The one error class of Skillcell. `code` says what happened, `fix` what to do. */
export class SkillError extends Error {
  override readonly name = 'SkillError';
  readonly code: ErrorCode;
  readonly fix: string;
  readonly detail: Record<string, unknown>;
  /** The whole outcome, if the error comes from a call. */
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

  /** The error of a failed call, with its whole outcome. */
  static fromOutcome(outcome: Failure, cause?: unknown): SkillError {
    const { code, message, fix, detail } = outcome.error;
    const error = new SkillError(code, message, { fix, detail, cause });
    error.outcome = outcome;
    return error;
  }
}

/** Converts any thrown value; an unexpected one becomes `internal`. */
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
 * Handles the rejection of a promise that is not awaited: it would crash the host, so it becomes a warning, and `onFault`
 * ends what the work was for, e.g. a cell.
 */
export function unattended(work: Promise<unknown> | undefined, onFault?: () => void): void {
  if (!work) return;
  work.catch((error: unknown) => {
    process.emitWarning(error instanceof Error ? error : String(error), 'SkillcellWarning');
    onFault?.();
  });
}
