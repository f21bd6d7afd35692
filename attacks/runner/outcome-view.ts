/**
 * What an outcome says about an attack.
 *
 * @module
 */
import type { Outcome } from '../../src/for-attacks.ts';
import type { Expected } from './attack.ts';

/** The code of the outcome with its limit, as the table of `skillcell attack` shows it. */
export function codeOf(outcome: Outcome): string {
  if (outcome.ok) return 'ok';
  const limit = outcome.error.detail['limit'];
  return outcome.error.code === 'resource_exceeded'
    ? `resource_exceeded:${String(limit)}`
    : outcome.error.code;
}

// oxlint-disable-next-line no-control-regex -- those are what it looks for
const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/** Signs in the outcome that the attack worked; empty if it did not. */
export function successIn(outcome: Outcome, secret: string): string[] {
  const signs: string[] = [];
  if (JSON.stringify(outcome).includes(secret)) signs.push('the secret is in the outcome');
  if (!outcome.ok && CONTROL_CHARACTERS.test(outcome.error.message))
    signs.push('the message controls a terminal');
  const result: unknown = outcome.ok ? outcome.result : undefined;
  if (typeof result === 'object' && result !== null) {
    if ('succeeded' in result && result.succeeded === true) signs.push('the attack reports success');
    if (JSON.stringify(result).includes('forged')) signs.push('the result is forged');
  }
  return signs;
}

/** Undefined if the attack got one of the required answers, otherwise what was wrong. */
export function unexpectedIn(outcome: Outcome, { codes, limits }: Expected): string | undefined {
  const allowed = codes.flatMap((code) =>
    code === 'resource_exceeded' ? limits.map((limit) => `${code}:${limit}`) : [code],
  );
  const code = codeOf(outcome);
  return allowed.includes(code) ? undefined : `answered ${code} instead of ${allowed.join(' or ')}`;
}

/** One line about how the call ended. */
export function evidenceOf(outcome: Outcome): string {
  return outcome.ok
    ? `Result ${JSON.stringify(outcome.result)?.slice(0, 120)}`
    : outcome.error.message.slice(0, 160);
}
