/**
 * Derives the smallest permissions that cover the observed call, and the declared permissions it did not use. Pure.
 *
 * @module
 */
import type { EnvRule, FilesystemRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import { believable } from './believable.ts';
import { leastEnv, unusedEnv } from './least-env.ts';
import { leastFilesystem, unusedFilesystem } from './least-filesystem.ts';
import { leastNetwork, unusedNetwork, withLiteralStars } from './least-network.ts';
import type { Observed, ObservedRequest } from './observed.ts';

/** A rule, and whether every act that it is based on was denied. */
export interface ObservedRule<T> {
  rule: T;
  denied: boolean;
}

export interface Least {
  filesystem: ObservedRule<FilesystemRule>[];
  network: ObservedRule<NetworkRule>[];
  env: Record<string, ObservedRule<EnvRule>>;
  /** Absent: no process was started. */
  processes?: number;
  /** Declared, but not used in this run. */
  unused: string[];
  remarks: string[];
}

/** For a skill that was denied starting programs and declares no number; its own process counts. */
const FEWEST_PROCESSES = 2;

export interface LeastOptions {
  /** The call succeeded. */
  succeeded: boolean;
  /** What the operator allowed for this call; no rule for a used act is wider. */
  allowed: AllowedRules;
}

/** What was allowed, as manifest rules. */
export interface AllowedRules {
  filesystem: readonly FilesystemRule[];
  env: Readonly<Record<string, EnvRule>>;
  processes: number;
}

export function leastFor(manifest: Manifest, reported: Observed, options: LeastOptions): Least {
  const { filesystem, network } = manifest.capabilities;
  const { observed, invented } = believable(reported, options.allowed);
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
      ...inventedRemarks(invented),
      ...undeclarable(observed),
      ...withLiteralStars(observed.requests, network).map(starRemark),
      ...failureRemarks(options),
      ...inspectionRemarks(manifest, observed),
    ],
  };
}

/** Concurrent processes are not counted, so this is the declared number, capped by the allowed one if any ran. */
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

function inventedRemarks(invented: readonly string[]): string[] {
  if (invented.length === 0) return [];
  const some = invented.slice(0, 5).join(', ');
  const more = invented.length > 5 ? `, and ${invented.length - 5} more` : '';
  return [
    `The skill says that it did this, but it was not allowed, so it cannot have; it is left out: ${some}${more}.`,
  ];
}

function undeclarable({ other }: Observed): string[] {
  return other.map((asked) => `A manifest cannot declare this: ${asked}`);
}

function starRemark({ scheme, host, path = '' }: ObservedRequest): string {
  return `Left out, because "*" in a rule stands for any text, which would allow more than this: ${scheme}://${host}${path}`;
}

function failureRemarks({ succeeded }: LeastOptions): string[] {
  if (succeeded) return [];
  return ['The call failed, so this covers only what it did before the failure.'];
}

/** The TLS traffic of a native program is opaque unless the operator turns inspection on. */
function inspectionRemarks({ execution }: Manifest, { requests }: Observed): string[] {
  const seen = requests.some(({ scheme, method }) => scheme === 'https' && method !== undefined);
  const isNative = execution.length === 0 || execution.includes('subprocess');
  return seen && isNative
    ? [
        '"methods" and "paths" of https hosts are refused in subprocess mode unless network.inspect_tls is on.',
      ]
    : [];
}
