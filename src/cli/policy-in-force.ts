/**
 * The policy that a command runs under: the one passed with --policy, or all files here and above, combined.
 *
 * @module
 */
import {
  type OperatorPolicy,
  SkillError,
  defaultHome,
  findPolicies,
  namedPolicy,
  policyInForce as foundPolicy,
  trustPolicy as trustFile,
} from '../inside.ts';

export function policyInForce(named: string | undefined): OperatorPolicy | undefined {
  if (named !== undefined) return namedPolicy(named);
  return foundPolicy({ folder: process.cwd(), home: defaultHome() });
}

/** Records that a person trusts the current content of this file; returns the keys by which it widens the policy in force. */
export function trustPolicy(named: string | undefined): { file: string; keys: string[] } {
  const file = named ?? findPolicies(process.cwd()).at(-1);
  if (file === undefined)
    throw new SkillError('usage', 'There is no skillcell.policy.yaml here or above', {
      fix: 'Name the file: skillcell policy trust FILE',
    });
  return { file, keys: trustFile(file, defaultHome()) };
}
