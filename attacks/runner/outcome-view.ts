/**
 * What an outcome tells about an attack.
 *
 * @module
 */
import type { Outcome } from '../../src/outcome.ts';
import type { Attack } from './expectations.ts';

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

/** Signs in the outcome that the attack worked; empty when it did not. */
export function successIn(outcome: Outcome, secret: string): string[] {
  const signs: string[] = [];
  if (JSON.stringify(outcome).includes(secret)) signs.push('the secret is in the outcome');
  if (!outcome.ok && CONTROL_CHARACTERS.test(outcome.error.message))
    signs.push('the message steers a terminal');
  const result: unknown = outcome.ok ? outcome.result : undefined;
  if (typeof result === 'object' && result !== null) {
    if ('succeeded' in result && result.succeeded === true) signs.push('the attack reports success');
    if (JSON.stringify(result).includes('forged')) signs.push('the result is forged');
  }
  return signs;
}

/** Undefined when the answer is one that the attack must get, else what was wrong with it. */
export function unexpectedIn(outcome: Outcome, attack: Pick<Attack, 'codes' | 'limits'>): string | undefined {
  const allowed = attack.codes.flatMap((code) =>
    code === 'resource_exceeded' ? attack.limits.map((limit) => `${code}:${limit}`) : [code],
  );
  const code = codeOf(outcome);
  return allowed.includes(code) ? undefined : `answered ${code} instead of ${allowed.join(' or ')}`;
}

/** A line about how the call ended. */
export function evidenceOf(outcome: Outcome): string {
  return outcome.ok
    ? `Result ${JSON.stringify(outcome.result)?.slice(0, 120)}`
    : outcome.error.message.slice(0, 160);
}
