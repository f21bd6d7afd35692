/**
 * Every way a call can fail: the error code, the exit code of the command line, and the HTTP status.
 *
 * @module
 */
import { choicesIn, mapTable, type Choices } from './table.ts';

interface ErrorRow {
  exit: number;
  http: number;
  meaning: string;
}

export const ERRORS = {
  skill_error: {
    exit: 1,
    http: 422,
    meaning: 'The skill raised an error, or its result does not match `outputs`.',
  },
  usage: { exit: 2, http: 400, meaning: 'The command or library call itself is wrong. Nothing ran.' },
  invalid_params: {
    exit: 2,
    http: 400,
    meaning: "The parameters break the skill's schema, or are not valid JSON. Nothing ran.",
  },
  manifest_invalid: { exit: 2, http: 409, meaning: 'The manifest or the bundle is malformed. Nothing ran.' },
  manifest_drift: {
    exit: 2,
    http: 409,
    meaning: 'The code and the manifest (or its lock) do not agree. Nothing ran.',
  },
  unenforceable: {
    exit: 2,
    http: 409,
    meaning:
      'The manifest declares a limit or capability that cannot be enforced on this machine. Nothing ran.',
  },
  capability_denied: {
    exit: 3,
    http: 403,
    meaning: 'The skill tried something that was not declared or not granted.',
  },
  resource_exceeded: { exit: 4, http: 422, meaning: 'A limit was hit: `detail.limit` names it.' },
  untrusted: {
    exit: 5,
    http: 403,
    meaning: 'The origin of the skill does not allow this mode. Nothing ran.',
  },
  approval_required: {
    exit: 5,
    http: 403,
    meaning: 'A person must approve the capability set first. Nothing ran.',
  },
  signature_invalid: {
    exit: 5,
    http: 403,
    meaning: 'The signature is missing or invalid. Nothing ran.',
  },
  skill_unavailable: {
    exit: 6,
    http: 404,
    meaning: 'The skill is unknown, or its mode is not available on this machine.',
  },
  outcome_unknown: {
    exit: 7,
    http: 502,
    meaning:
      'The worker that ran the call was lost. What the skill did by then is unknown; the call is never repeated automatically.',
  },
  internal: { exit: 70, http: 500, meaning: 'A fault of Skillcell itself.' },
  cancelled: {
    exit: 130,
    // Not standard, but proxies log it if the client has disconnected.
    http: 499,
    meaning:
      'The caller cancelled the call: Ctrl-C, a closed connection, an abort signal. Nothing of it keeps running.',
  },
} as const;

/** One of the closed list of error codes. */
export type ErrorCode = keyof typeof ERRORS;

const ROWS: Readonly<Record<ErrorCode, ErrorRow>> = ERRORS;

export const ERROR_CODES: Choices<ErrorCode> = choicesIn(ERRORS);

/** Exit code of the command line for each error code. */
export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = mapTable(ROWS, (_, { exit }) => exit);
