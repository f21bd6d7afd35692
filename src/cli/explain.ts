/**
 * Describes a plan as text: mode and reason, what is granted and withheld, what enforces each field.
 *
 * @module
 */
import { ENFORCED_FIELDS, type EnforcedField } from '../vocabulary/capabilities.ts';
import { ENGINES } from '../vocabulary/engines.ts';
import { LIMITS } from '../vocabulary/limits.ts';
import { mapTable } from '../vocabulary/table.ts';
import {
  type CapabilityEvent,
  type ExecuteOptions,
  type GuardAnswer,
  type Outcome,
  type Plan,
  type Runtime,
  filesOf,
  formatLimit,
  printableLine,
} from '../inside.ts';
import { table } from './output.ts';

export async function explain(runtime: Runtime, ref: string, options: ExecuteOptions): Promise<string> {
  const skill = await runtime.load(ref);
  const { summary } = await runtime.standing(skill);
  const plan = describePlan(await runtime.plan(skill, options));
  return [`trust     ${printableLine(summary)}`, describePolicies(runtime), plan].join('\n');
}

/** All policy files are in force; for each setting the strictest one applies. */
export function describePolicies({ policy }: Pick<Runtime, 'policy'>): string {
  const files = filesOf(policy).map((file) => printableLine(file));
  return `policy    ${files.join('\n          ') || 'built-in defaults'}`;
}

/** All decisions about a call, in the order of the stages. */
export function decisions(outcome: Outcome, guard: GuardAnswer | undefined): string {
  const { used, denied, cut } = outcome.capabilities;
  const rows = [
    ...(guard ? [['guard', guard.decision, guard.reasons.join('; ')]] : []),
    ...counted(used).map(([what, event]) => ['allowed', event.capability, what]),
    ...counted(denied).map(([what, event]) => ['denied', event.capability, `${what} (${event.declared})`]),
    ...(cut
      ? [['cut', '', `${cut.used} more allowed and ${cut.denied} more denied acts are not listed`]]
      : []),
  ];
  return ['decided', table(rows).replaceAll(/^/gm, '  '), remark(outcome)]
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** Each act once, with the number of times. */
function counted(events: readonly CapabilityEvent[]): [string, CapabilityEvent][] {
  const groups = Map.groupBy(events, ({ capability, asked }) => `${capability} ${asked}`);
  return [...groups.values()].flatMap((group) => {
    const [event] = group;
    return event ? [[group.length > 1 ? `${event.asked} (${group.length} times)` : event.asked, event]] : [];
  });
}

/** Points out acts that no decision covers. */
function remark({ execution, capabilities }: Outcome): string {
  if (!execution) return '  nothing ran';
  if (execution.wall === 'none')
    return '  no isolation in this mode: acts of the skill are neither checked nor logged';
  if (execution.mode !== 'wasm') return '  file access is enforced by the kernel; only denials are logged';
  const { used, denied } = capabilities;
  return used.length + denied.length === 0 ? '  the skill requested nothing' : '';
}

export function describePlan(plan: Plan): string {
  const { mode, wall, engine } = plan.choice.candidate;
  return [
    `mode      ${mode}: ${wall} + ${engine} (${printableLine(plan.choice.reason)})`,
    ...(plan.choice.requires ?? []).map((requirement) => `requires  ${printableLine(requirement)}`),
    `grant     ${grantLines(plan).map(printableLine).join('\n          ')}`,
    'enforced',
    table(enforcementRows(plan)).replaceAll(/^/gm, '  '),
  ].join('\n');
}

function grantLines(plan: Plan): string[] {
  const { grant, fixedEnv } = plan;
  const { wall, engine } = plan.choice.candidate;
  if (wall === 'none') return ['everything your account can do: no isolation in this mode'];
  const lines = [
    ENGINES[engine].scratch ? 'read the bundle, write scratch space in /tmp' : 'read the bundle',
    ...grant.filesystem.map((path) => `${path.access} ${path.host} (as ${path.guest})`),
    ...grant.network.map((rule) => `connect to ${rule.host}`),
    ...Object.keys(grant.env).map((name) => `read the variable ${name}`),
    ...(grant.programs ?? []).map((name) => `start the program ${name} by a command`),
    ...(grant.secrets ?? []).map(
      ({ name, hosts }) => `send the secret ${name} to ${hosts.join(', ')}, without seeing it`,
    ),
    `read the variables of every cell: ${Object.keys(fixedEnv).join(', ') || 'none'}`,
    grant.limits.processes > 0 ? `start ${grant.limits.processes} processes` : 'start no process',
  ];
  return [...lines, ...grant.withheld.map((one) => `withheld: ${one.declared} (${one.reason})`)];
}

function enforcementRows({ enforces, grant }: Plan): string[][] {
  const { limits } = grant;
  const values: Partial<Record<EnforcedField, string>> = mapTable(LIMITS, (name) =>
    formatLimit(name, limits[name]),
  );
  return ENFORCED_FIELDS.map((field) => {
    const { by, how } = enforces[field];
    return [field, values[field] ?? '', by, how];
  });
}
