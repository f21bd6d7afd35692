/**
 * A plan in words: mode and why, what is granted, what is withheld, who enforces what.
 *
 * @module
 */
import { formatDuration, formatSize, type ExecuteOptions, type Plan, type Runtime } from '../index.ts';
import { table } from './output.ts';

export async function explain(runtime: Runtime, ref: string, options: ExecuteOptions): Promise<string> {
  return describePlan(await runtime.plan(await runtime.load(ref), options));
}

export function describePlan(plan: Plan): string {
  const { mode, wall, engine } = plan.choice.candidate;
  return [
    `mode      ${mode}: ${wall} + ${engine} (${plan.choice.reason})`,
    `grant     ${grantLines(plan).join('\n          ')}`,
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
