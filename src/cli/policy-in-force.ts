/**
 * Which policy a command runs under: the one that was named, or the nearest one upwards if it is to be trusted.
 *
 * @module
 */
import { realpathSync } from 'node:fs';
import {
  defaultHome,
  findPolicy,
  parsePolicy,
  SkillError,
  TrustedPolicies,
  wideningKeys,
  type OperatorPolicy,
} from '../index.ts';
import { readText } from './read-text.ts';

export function policyInForce(named: string | undefined): OperatorPolicy | undefined {
  if (named !== undefined) return readPolicy(named).policy;
  const file = findPolicy(process.cwd());
  if (file === undefined) return undefined;
  const { policy, text } = readPolicy(file);
  const keys = wideningKeys(policy);
  if (keys.length > 0 && !isTrusted(file, text)) throw untrusted(file, keys);
  return policy;
}

/** Remembers that a person trusts this file as it is now; returns what it gives beyond the defaults. */
export function trustPolicy(named: string | undefined): { file: string; keys: string[] } {
  const file = named ?? findPolicy(process.cwd());
  if (file === undefined)
    throw new SkillError('usage', 'There is no skillcell.policy.yaml here or above', {
      fix: 'Name the file: skillcell policy trust FILE',
    });
  const { policy, text } = readPolicy(file);
  new TrustedPolicies(defaultHome()).add(realpathSync(file), text);
  return { file, keys: wideningKeys(policy) };
}

function readPolicy(file: string): { policy: OperatorPolicy; text: string } {
  const text = readText(file, 'policy file');
  return { policy: parsePolicy(text, { file }), text };
}

function isTrusted(file: string, text: string): boolean {
  return new TrustedPolicies(defaultHome()).has(realpathSync(file), text);
}

function untrusted(file: string, keys: string[]): SkillError {
  const list = keys.map((key) => `"${key}"`).join(', ');
  return new SkillError(
    'untrusted',
    `The policy ${JSON.stringify(file)} was found here and gives more than the defaults (${list}), but nobody has trusted it`,
    {
      fix: 'Read it. If it is yours, run `skillcell policy trust`, or name it with --policy.',
      detail: { file, keys },
    },
  );
}
