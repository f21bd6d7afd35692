/**
 * The operator's rules about data that moves from one skill to another: what came from some skills may only be given to
 * skills whose hosts are on a list.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { nameMatches } from '../manifest/star-pattern.ts';
import { hostCovers } from './patterns.ts';

export interface FlowRule {
  /** Skills whose data this is about: `finance/*`. */
  from: string;
  /** Hosts that a skill which is given such data may declare. */
  hosts: readonly string[];
}

/** Why a skill may not be given data of these sources; undefined if it may. */
export function forbiddenFlow(
  rules: readonly FlowRule[] | undefined,
  sources: ReadonlySet<string>,
  { name, capabilities }: Pick<Manifest, 'name' | 'capabilities'>,
): SkillError | undefined {
  for (const { from, hosts } of rules ?? []) {
    const source = [...sources].find((one) => one !== name && nameMatches(from, one));
    const host = capabilities.network.find(
      (rule) => !hosts.some((allowed) => hostCovers(allowed, rule.host)),
    );
    if (source === undefined || !host) continue;
    return new SkillError(
      'capability_denied',
      `The skill "${name}" may reach ${JSON.stringify(host.host)}, and the operator forbids passing it data of "${source}"`,
      {
        fix: `Call "${name}" before "${source}", or have the operator change the rule for "${from}" under "flows" in the policy.`,
        detail: { skill: name, source, host: host.host },
      },
    );
  }
  return undefined;
}
