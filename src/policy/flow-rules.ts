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

type Receiver = Pick<Manifest, 'name' | 'capabilities'>;

/** Why a skill may not get data of these sources; undefined if it may. */
type Forbids = (
  rules: readonly FlowRule[] | undefined,
  sources: ReadonlySet<string>,
  skill: Receiver,
) => SkillError | undefined;

/** About data that it is called with. */
export const forbiddenFlow: Forbids = (rules, sources, skill) => {
  const found = brokenRule(rules, sources, skill);
  return found && forbidden(skill, found, `Call "${skill.name}" before "${found.source}"`);
};

/** About the result of a call that it makes. */
export const forbiddenResult: Forbids = (rules, sources, caller) => {
  const found = brokenRule(rules, sources, caller);
  return found && forbidden(caller, found, `Have a skill without network call "${found.source}"`);
};

interface Broken {
  source: string;
  host: string;
  from: string;
}

function brokenRule(
  rules: readonly FlowRule[] | undefined,
  sources: ReadonlySet<string>,
  { name, capabilities }: Receiver,
): Broken | undefined {
  for (const { from, hosts } of rules ?? []) {
    const source = [...sources].find((one) => one !== name && nameMatches(from, one));
    const rule = capabilities.network.find(({ host }) => !hosts.some((allowed) => hostCovers(allowed, host)));
    if (source !== undefined && rule) return { source, host: rule.host, from };
  }
  return undefined;
}

function forbidden({ name }: Receiver, { source, host, from }: Broken, fix: string): SkillError {
  return new SkillError(
    'capability_denied',
    `The skill "${name}" may reach ${JSON.stringify(host)}, and the operator forbids passing it data of "${source}"`,
    {
      fix: `${fix}, or have the operator change the rule for "${from}" under "flows" in the policy.`,
      detail: { skill: name, source, host },
    },
  );
}
