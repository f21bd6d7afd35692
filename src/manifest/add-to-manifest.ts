/**
 * Adds permissions to a manifest: those of an overlay, or those that a person gives to one call. Nothing that the manifest
 * says is lost, and nothing is added that was not given.
 *
 * @module
 */
import type { Capabilities, FilesystemRule, Manifest, NetworkRule } from './manifest.ts';

/** Permissions in the form of a manifest. */
export interface Permissions extends Pick<Manifest, 'limits' | 'container'> {
  capabilities: Partial<Capabilities>;
  env: Readonly<Manifest['env']>;
}

export function addToManifest(
  manifest: Manifest,
  { capabilities, env, limits, container }: Permissions,
): Manifest {
  const {
    filesystem,
    network,
    syscalls,
    programs: declared = [],
    skills: named = [],
  } = manifest.capabilities;
  const programs = [...new Set([...declared, ...(capabilities.programs ?? [])])];
  const skills = [...new Set([...named, ...(capabilities.skills ?? [])])];
  return {
    ...manifest,
    capabilities: {
      filesystem: addPaths(filesystem, capabilities.filesystem ?? []),
      network: addRules(network, capabilities.network ?? []),
      // A stricter filter than the skill's own is the only thing that can be added.
      syscalls: syscalls === 'default' ? (capabilities.syscalls ?? syscalls) : syscalls,
      ...(programs.length > 0 ? { programs } : {}),
      // Commands cannot call skills yet; what asks for it is refused where it would run, never ignored.
      ...(skills.length > 0 ? { skills } : {}),
    },
    // What the skill says about a variable stays: a secret does not become a plain value.
    env: Object.fromEntries([...Object.entries(env), ...Object.entries(manifest.env)]),
    limits: { ...manifest.limits, ...limits },
    ...(container ? { container } : {}),
  };
}

/** One rule for each path, the one with more access; of equals, the first. */
function addPaths(declared: readonly FilesystemRule[], added: readonly FilesystemRule[]): FilesystemRule[] {
  const rules = new Map<string, FilesystemRule>();
  for (const rule of [...declared, ...added]) {
    const known = rules.get(rule.path);
    if (!known || (known.access === 'read' && rule.access === 'read-write')) rules.set(rule.path, rule);
  }
  return [...rules.values()];
}

function addRules(declared: readonly NetworkRule[], added: readonly NetworkRule[]): NetworkRule[] {
  const known = new Set(declared.map(keyOf));
  return [...declared, ...added.filter((rule) => !known.has(keyOf(rule)) && known.add(keyOf(rule)))];
}

function keyOf({ host, port, scheme, methods, paths }: NetworkRule): string {
  return JSON.stringify([host, port, scheme, methods, paths]);
}
