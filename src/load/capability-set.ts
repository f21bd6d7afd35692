/**
 * Everything a manifest asks for, as a sorted list of plain strings. Locks record this list, people approve it, and
 * diffs compare it. Manifests that ask for different things never produce the same list.
 *
 * @module
 */
import type { EnvRule, FilesystemRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import type { Bundle } from './bundle.ts';
import { pinLines } from './pins.ts';
import { formatLimit, formatSize } from '../manifest/units.ts';
import { DECLARED_LIMITS, LIMITS } from '../vocabulary/limits.ts';

/** The canonical capability set. Empty for a manifest that asks for nothing. */
export function capabilitySet(manifest: Manifest): string[] {
  const { filesystem, network, syscalls, programs = [], skills = [] } = manifest.capabilities;
  const lines = [
    ...filesystem.map(describePath),
    ...network.map(describeNetwork),
    ...Object.entries(manifest.env).map(([name, rule]) => describeEnv(name, rule)),
    ...programs.map((name) => `program ${quoteOddText(name)}`),
    ...skills.map((pattern) => `skill ${quoteOddText(pattern)}`),
    ...describeLimits(manifest.limits),
    ...describeContainer(manifest.container),
    ...(manifest.execution.includes('in_process') ? ['execution in_process'] : []),
    ...(manifest.executionDemand === undefined ? [] : [`execution_mode ${manifest.executionDemand}`]),
    ...(syscalls === 'default' ? [] : [describeSyscalls(syscalls)]),
  ];
  return [...new Set(lines)].sort();
}

/** The lines that people approve: the set, plus the exact image and packages of this machine, which are not in the bundle. */
export function approvedSet(bundle: Pick<Bundle, 'manifest' | 'image' | 'pins'>): string[] {
  return [...capabilitySet(bundle.manifest), ...pinLines(bundle)].sort();
}

/** The changes between two sets, one line each: `+ network …` for an addition, `- …` for a removal. */
export function diffCapabilities(before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  const removed = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`);
  return [...added, ...removed];
}

function describePath(rule: FilesystemRule): string {
  const cap = rule.maxBytes === undefined ? '' : ` up to ${formatSize(rule.maxBytes)}`;
  return `filesystem ${rule.access} ${quoteOddText(rule.path)}${cap}`;
}

function describeNetwork(rule: NetworkRule): string {
  const scheme = rule.scheme === undefined ? '' : `${rule.scheme}://`;
  const host = rule.host.includes(':') ? `[${quoteOddText(rule.host)}]` : quoteOddText(rule.host);
  const port = rule.port === undefined ? '' : `:${rule.port}`;
  const narrowed = rule.methods !== undefined || rule.paths !== undefined;
  const request = narrowed ? ` ${joinList(rule.methods)} ${joinList(rule.paths)}` : '';
  return `network ${scheme}${host}${port}${request}`;
}

function describeEnv(name: string, rule: EnvRule): string {
  if (!rule.secret) return `env ${quoteOddText(name)}`;
  const destination = rule.hosts.length === 0 ? '' : ` for ${joinList(rule.hosts)}`;
  return `env ${quoteOddText(name)} (secret)${destination}`;
}

function describeSyscalls(rule: 'strict' | { deny: string[] }): string {
  return rule === 'strict' ? 'syscalls strict' : `syscalls deny ${joinList(rule.deny)}`;
}

function describeLimits(limits: Manifest['limits']): string[] {
  return DECLARED_LIMITS.flatMap((name) => {
    const value = limits[name];
    return value === undefined ? [] : [`${LIMITS[name].line} ${formatLimit(name, value)}`];
  });
}

function describeContainer(rule: Manifest['container']): string[] {
  const { buildNetwork, ...named } = rule ?? {};
  const lines = Object.entries(named).map(([key, value]) => `container ${key} ${quoteOddText(value)}`);
  return buildNetwork ? [...lines, 'container build_network'] : lines;
}

function joinList(values: readonly string[] | undefined): string {
  if (values === undefined) return 'any';
  return values.length === 0 ? 'none' : values.map(quoteOddText).sort().join(',');
}

/** Quotes and escapes text that could pass for another entry or hide something. */
function quoteOddText(text: string): string {
  if (/^[^\s,"\p{C}]+$/u.test(text) && text !== 'any' && text !== 'none') return text;
  return JSON.stringify(text).replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (odd) => `\\u{${odd.codePointAt(0)?.toString(16)}}`,
  );
}
