/**
 * Explains for every capability what is declared, allowed by policy, approved and granted.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import { formatLimit } from '../manifest/units.ts';
import { DECLARED_LIMITS } from '../vocabulary/limits.ts';
import type { Standing } from '../trust/standing.ts';
import type { ModeChoice } from './choose-mode.ts';
import type { Grant, Withheld } from './grant.ts';
import type { OperatorPolicy } from './operator.ts';

/** A capability or limit: declared, allowed by policy, approved, granted. */
export interface ExplainedCapability {
  capability: string;
  declared: string;
  policy: string;
  approval: string;
  granted: string;
}

export interface ExplainInput {
  manifest: Manifest;
  plan: { grant: Grant; choice: ModeChoice };
  policy: OperatorPolicy;
  standing: Standing;
}

export function explainGrant(input: ExplainInput): ExplainedCapability[] {
  const approval = approvalWord(input.standing);
  const isOpen = approval !== 'denied' && approval !== 'missing';
  return [...modeRows(input), ...capabilityRows(input), ...limitRows(input)].map(
    ({ capability, declared, policy, granted }) => ({
      capability,
      declared,
      policy,
      approval,
      granted: isOpen ? granted : 'nothing runs',
    }),
  );
}

type Row = Omit<ExplainedCapability, 'approval'>;

function approvalWord({ rule, approval }: Standing): string {
  if (rule.decision === 'deny') return 'denied';
  if (approval.kind === 'approved') return 'approved';
  return rule.decision === 'ask' ? 'missing' : 'not needed';
}

/** Only if manifest or policy require something of the mode. */
function modeRows({ manifest, plan: { choice } }: ExplainInput): Row[] {
  if (!choice.requires) return [];
  const declared = manifest.executionDemand ?? (manifest.execution.join(', ') || 'any');
  const { mode, wall } = choice.candidate;
  return [
    {
      capability: 'execution',
      declared,
      policy: choice.requires.join('; '),
      granted: `${mode} in a ${wall}`,
    },
  ];
}

function capabilityRows({ manifest, plan: { grant } }: ExplainInput): Row[] {
  const { filesystem, network, programs = [], skills = [] } = manifest.capabilities;
  const row = (capability: Withheld['capability'], declared: string, granted: string): Row => {
    const withheld = grant.withheld.find((one) => one.capability === capability && one.declared === declared);
    return {
      capability,
      declared,
      policy: withheld ? withheld.reason : 'allowed',
      granted: withheld ? 'no' : granted,
    };
  };
  return [
    ...filesystem.map((rule) => row('filesystem', `${rule.access} ${rule.path}`, 'yes')),
    ...network.map((rule) => row('network', rule.host, 'yes, through the gateway')),
    ...programs.map((name) => row('program', name, 'yes, started by the command itself')),
    ...skills.map(skillRow),
    ...Object.entries(manifest.env).map(([name, rule]) =>
      row('env', name, rule.secret ? 'a placeholder' : name in grant.env ? 'yes' : 'not set'),
    ),
  ];
}

/** What each of them may do is decided at its call. */
function skillRow(declared: string): Row {
  const policy = 'the rules for that skill, at each call';
  return { capability: 'skill', declared, policy, granted: 'yes, each in a cell of its own' };
}

function limitRows({ manifest, plan: { grant }, policy }: ExplainInput): Row[] {
  return DECLARED_LIMITS.map((name) => {
    const declared = manifest.limits[name];
    const format = (value: number): string => formatLimit(name, value);
    return {
      capability: `limit ${name}`,
      declared: declared === undefined ? 'default' : format(declared),
      policy: `at most ${format(policy.ceilings[name])}`,
      granted: format(grant.limits[name]),
    };
  });
}
