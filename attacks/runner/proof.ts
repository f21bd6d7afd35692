/**
 * Whether an attack really ran. A cell that failed to start also does no harm, so a row says "stopped" only with a proof
 * that the hostile code was reached, or that the boundary it targets refused it.
 *
 * An attack proves it by writing the text of `REACHED` to its log. Most attacks need not care: the runner puts that line at
 * the start of `execute`. A source that already contains the text is left unchanged, so an attack whose act comes later, or
 * while the skill is imported, prints it right before the act.
 *
 * @module
 */
import type { ErrorCode, Outcome } from '../../src/for-attacks.ts';
import type { Expected } from './attack.ts';
import { REACHED } from './marker.ts';
import { codeOf, evidenceOf } from './outcome-view.ts';

/** The call ends before any code of the skill runs. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'usage',
  'invalid_params',
  'manifest_invalid',
  'manifest_drift',
  'unenforceable',
  'untrusted',
  'approval_required',
  'signature_invalid',
  'skill_unavailable',
]);
/** Errors that show a bug in the attack itself, not a wall. */
const BLUNDER =
  /raised (?:\w*(?:NameError|ImportError|AttributeError|SyntaxError|UnboundLocalError|KeyError|IndexError|ReferenceError|ModuleNotFoundError)|TypeError: (?:\w+\(\)|.*(?:argument|is not a function|not a function|of undefined|of null|operand)))/;

/** How an attack shows that it ran. */
export type ProofKind =
  /** Its log has the marker. */
  | 'marker'
  /** It used fuel or called the host: for binaries, which have no source for a marker. */
  | 'work'
  /** The decision it targets was made: for attacks whose code must never run. */
  | 'answer';

/** Undefined if the attack ran, otherwise why that is not proven. */
export function missingProof(outcome: Outcome, kind: ProofKind, expected: Expected): string | undefined {
  if (isRefusal(outcome, expected)) return undefined;
  if (!hasProof(outcome, kind, expected))
    return `no sign that it ran: ${codeOf(outcome)}, ${evidenceOf(outcome)}`;
  return blunderIn(outcome, expected);
}

function hasProof(outcome: Outcome, kind: ProofKind, { codes }: Expected): boolean {
  const { capabilities, logs } = outcome;
  if (capabilities.denied.length > 0) return true;
  if (kind === 'marker') return logs.includes(REACHED);
  if (kind === 'work') return logs.includes(REACHED) || isWork(outcome);
  return codes.includes(outcome.ok ? 'ok' : outcome.error.code);
}

/** A deadline can pass before the guest starts; the other limits are counted from its first instruction. */
function isWork(outcome: Outcome): boolean {
  if (outcome.ok || outcome.usage.fuel > 0 || outcome.usage.host_calls > 0) return true;
  const { code, detail, message } = outcome.error;
  if (code === 'resource_exceeded') return detail['limit'] !== 'timeout' && detail['limit'] !== 'busy';
  return code === 'skill_error' && /raised (?:Trap|LinkError)\b/.test(message);
}

const TRIES = 3;
const MORE_TIME = 5;

/**
 * Calls again, with more time, if the deadline passed before the act, or if something else must stop the attack: on a busy
 * machine a call may need longer than the attack has time.
 */
export async function callUntilStopped(
  call: (timeout: number) => Promise<Outcome>,
  { timeout, limits }: Pick<Expected, 'limits'> & { timeout: number },
  isReached: (outcome: Outcome) => boolean,
): Promise<Outcome> {
  const isStopped = (ended: Outcome): boolean =>
    codeOf(ended) !== 'resource_exceeded:timeout' || (limits.includes('timeout') && isReached(ended));
  let outcome = await call(timeout);
  for (let time = timeout * MORE_TIME, left = TRIES - 1; left > 0; left--, time *= MORE_TIME) {
    if (isStopped(outcome)) break;
    outcome = await call(time);
  }
  return outcome;
}

/** Refused at the boundary, with a refusal that this attack expects. */
function isRefusal(outcome: Outcome, { codes }: Expected): boolean {
  return !outcome.ok && REFUSALS.has(outcome.error.code) && codes.includes(outcome.error.code);
}

function blunderIn(outcome: Outcome, { failsWith }: Expected): string | undefined {
  if (outcome.ok || outcome.error.code !== 'skill_error') return undefined;
  const { message } = outcome.error;
  if (failsWith?.some((part) => message.includes(part))) return undefined;
  const blunder = BLUNDER.exec(message)?.[0];
  return blunder === undefined
    ? undefined
    : `it failed because of its own bug (${blunder}): ${evidenceOf(outcome)}`;
}
