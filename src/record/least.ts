/**
 * From what was observed to the least that a manifest has to ask for, and what it asks for without need. Pure.
 *
 * @module
 */
import type { EnvRule, FilesystemRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import { leastEnv, unusedEnv } from './least-env.ts';
import { leastFilesystem, unusedFilesystem } from './least-filesystem.ts';
import { leastNetwork, unusedNetwork } from './least-network.ts';
import type { Observed } from './observed.ts';

/** A rule, and whether all that speaks for it was denied. */
export interface Noted<T> {
  rule: T;
  denied: boolean;
}

export interface Least {
  filesystem: Noted<FilesystemRule>[];
  network: Noted<NetworkRule>[];
  env: Record<string, Noted<EnvRule>>;
  /** Absent: no process was started. */
  processes?: number;
  /** Declared, but not used in this run. */
  unused: string[];
  remarks: string[];
}

/** For a skill that was denied to start programs and has never said how many. */
const FEWEST_PROCESSES = 1;

export interface LeastOptions {
  /** The call came to a good end. */
  succeeded: boolean;
  /** What the operator allowed for this call: nothing that was used gets a wider rule. */
  allowed: AllowedRules;
}

/** What was allowed, in the words of a manifest. */
export interface AllowedRules {
  filesystem: readonly FilesystemRule[];
  env: Readonly<Record<string, EnvRule>>;
  processes: number;
}

export function leastFor(manifest: Manifest, observed: Observed, options: LeastOptions): Least {
  const { filesystem, network } = manifest.capabilities;
  const env = leastEnv(observed, manifest.env, options);
  const processes = leastProcesses(manifest, observed, options.allowed);
  return {
    filesystem: leastFilesystem(observed.files, {
      declared: filesystem,
      allowed: options.allowed.filesystem,
    }),
    network: leastNetwork(observed.requests, network),
    env: env.rules,
    ...(processes === undefined ? {} : { processes }),
    unused: unusedPermissions(manifest, observed),
    remarks: [
      ...env.remarks,
      ...undeclarable(observed),
      ...aboutEnd(options),
      ...aboutInspection(manifest, observed),
    ],
  };
}

/** How many run at once nobody counted: the declared number, but no more than was allowed where it was needed. */
function leastProcesses(
  { limits }: Manifest,
  { processes }: Observed,
  allowed: AllowedRules,
): number | undefined {
  if (processes.length === 0) return undefined;
  const isUsed = processes.some(({ denied }) => !denied);
  if (!isUsed) return limits.processes || FEWEST_PROCESSES;
  return Math.min(limits.processes || allowed.processes, allowed.processes);
}

function unusedPermissions(manifest: Manifest, observed: Observed): string[] {
  const { filesystem, network } = manifest.capabilities;
  return [
    ...unusedFilesystem(observed.files, filesystem).map(({ access, path }) => `filesystem ${access} ${path}`),
    ...unusedNetwork(observed.requests, network).map(
      ({ host, port, scheme = 'https' }) =>
        `network ${scheme}://${host}${port === undefined ? '' : `:${port}`}`,
    ),
    ...unusedEnv(observed, manifest.env).map((name) => `env ${name}`),
    ...((manifest.limits.processes ?? 0) > 0 && observed.processes.length === 0 ? ['limits.processes'] : []),
  ];
}

function undeclarable({ other }: Observed): string[] {
  return other.map((asked) => `No manifest can ask for this: ${asked}`);
}

function aboutEnd({ succeeded }: LeastOptions): string[] {
  if (succeeded) return [];
  return ['The call did not come to a good end: what it would have done after that is not in here.'];
}

/** In a native program nobody sees what goes through TLS unless the operator wants it. */
function aboutInspection({ execution }: Manifest, { requests }: Observed): string[] {
  const seen = requests.some(({ scheme, method }) => scheme === 'https' && method !== undefined);
  const isNative = execution.length === 0 || execution.includes('subprocess');
  return seen && isNative
    ? [
        '"methods" and "paths" of https hosts are refused in subprocess mode unless network.inspect_tls is on.',
      ]
    : [];
}
