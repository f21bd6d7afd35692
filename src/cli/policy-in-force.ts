/**
 * Which policy a command runs under: the one that was named, or all that are found upwards, combined.
 *
 * @module
 */
import {
  defaultHome,
  findPolicies,
  namedPolicy,
  policyInForce as foundPolicy,
  SkillError,
  trustPolicy as trustFile,
  type OperatorPolicy,
} from '../index.ts';

export function policyInForce(named: string | undefined): OperatorPolicy | undefined {
  if (named !== undefined) return namedPolicy(named);
  return foundPolicy({ folder: process.cwd(), home: defaultHome() });
}

/** Remembers that a person trusts this file as it is now; returns what it gives beyond what is in force without it. */
export function trustPolicy(named: string | undefined): { file: string; keys: string[] } {
  const file = named ?? findPolicies(process.cwd()).at(-1);
  if (file === undefined)
    throw new SkillError('usage', 'There is no skillcell.policy.yaml here or above', {
      fix: 'Name the file: skillcell policy trust FILE',
    });
  return { file, keys: trustFile(file, defaultHome()) };
}
