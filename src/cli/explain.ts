/**
 * A plan in words: mode and why, what is granted, what is withheld, who enforces what.
 *
 * @module
 */
import {
  formatDuration,
  formatSize,
  printableLine,
  type CapabilityEvent,
  type ExecuteOptions,
  type GuardAnswer,
  type Outcome,
  type Plan,
  type Runtime,
} from '../index.ts';
import { table } from './output.ts';

export async function explain(runtime: Runtime, ref: string, options: ExecuteOptions): Promise<string> {
  const skill = await runtime.load(ref);
  const { summary } = await runtime.standing(skill);
  const plan = describePlan(await runtime.plan(skill, options));
  return [`trust     ${printableLine(summary)}`, describePolicies(runtime), plan].join('\n');
}

/** All policy files count, the strictest for each thing that they speak about. */
export function describePolicies({ policyFiles }: Pick<Runtime, 'policyFiles'>): string {
  const files = policyFiles.map((file) => printableLine(file));
  return `policy    ${files.join('\n          ') || 'built-in defaults'}`;
}

/** Everything that was decided about a call, in the order of the stages. */
export function decisions(outcome: Outcome, guard: GuardAnswer | undefined): string {
  const { used, denied, cut } = outcome.capabilities;
  const rows = [
    ...(guard ? [['guard', guard.decision, guard.reasons.join('; ')]] : []),
    ...counted(used).map(([what, event]) => ['allowed', event.capability, what]),
    ...counted(denied).map(([what, event]) => ['denied', event.capability, `${what} (${event.declared})`]),
    ...(cut ? [['cut', '', `${cut.used} more allowed and ${cut.denied} more denied are not listed`]] : []),
  ];
  return ['decided', table(rows).replaceAll(/^/gm, '  '), remark(outcome)]
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** Each act once, with how often it was done. */
function counted(events: readonly CapabilityEvent[]): [string, CapabilityEvent][] {
  const groups = Map.groupBy(events, ({ capability, asked }) => `${capability} ${asked}`);
  return [...groups.values()].flatMap((group) => {
    const [event] = group;
    return event ? [[group.length > 1 ? `${event.asked} (${group.length} times)` : event.asked, event]] : [];
  });
}

/** What nobody was asked about. */
function remark({ execution, capabilities }: Outcome): string {
  if (!execution) return '  nothing ran';
  if (execution.wall === 'none') return '  nobody stands between: no act of this skill is decided on';
  if (execution.mode !== 'wasm') return '  files are decided on by the kernel, which tells of denials alone';
  const { used, denied } = capabilities;
  return used.length + denied.length === 0 ? '  the skill asked for nothing' : '';
}

export function describePlan(plan: Plan): string {
  const { mode, wall, engine } = plan.choice.candidate;
  return [
    `mode      ${mode}: ${wall} + ${engine} (${printableLine(plan.choice.reason)})`,
    `grant     ${grantLines(plan).map(printableLine).join('\n          ')}`,
    'enforced',
    table(enforcementRows(plan)).replaceAll(/^/gm, '  '),
  ].join('\n');
}

function grantLines(plan: Plan): string[] {
  const { grant, wall, engine } = plan;
  if (wall.name === 'none') return ['everything that you can do: nothing stands between'];
  const hasScratch = !['component', 'js-wasm'].includes(engine.name);
  const lines = [
    hasScratch ? 'read the bundle, write scratch space in /tmp' : 'read the bundle',
    ...grant.filesystem.map((path) => `${path.access} ${path.host} (as ${path.guest})`),
    ...grant.network.map((rule) => `connect to ${rule.host}`),
    ...Object.keys(grant.env).map((name) => `read the variable ${name}`),
    ...(grant.secrets ?? []).map(
      ({ name, hosts }) => `send the secret ${name} to ${hosts.join(', ')}, without seeing it`,
    ),
    `see the variables of every cell: ${Object.keys(engine.fixedEnv(grant)).join(', ') || 'none'}`,
    grant.limits.processes > 0 ? `start ${grant.limits.processes} processes` : 'start no process',
  ];
  return [...lines, ...grant.withheld.map((one) => `withheld: ${one.declared} (${one.reason})`)];
}

function enforcementRows({ enforces, grant }: Plan): string[][] {
  const { limits } = grant;
  const values: Record<string, string> = {
    timeout: formatDuration(limits.timeout),
    cpu: formatDuration(limits.cpu),
    memory: formatSize(limits.memory),
    output: formatSize(limits.output),
    processes: String(limits.processes),
    scratch: formatSize(limits.scratch),
  };
  return Object.entries(enforces).map(([field, { by, how }]) => [field, values[field] ?? '', by, how]);
}
