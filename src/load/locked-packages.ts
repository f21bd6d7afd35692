/**
 * The packages that a lock pins: for each target (an engine on a platform), every wheel by name, version and sha256.
 * A skill whose lock pins packages runs with exactly these wheels, or not at all.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { PinnedPackage, PinnedPackages } from './pins.ts';

const MAX_PACKAGES = 10_000;
const MAX_TARGETS = 100;
/** The same words that a record of an installation allows. */
const LINE = /^((?:@[\w.~-]{1,100}\/)?[\w.~+!-]{1,200}) ([\w.+!-]{1,200}) sha256:([0-9a-f]{64})$/;
const TARGET = /^[a-z][\w.-]{0,99}$/;

/** As written in `skill.lock`. */
export interface LockedPackages {
  /** The requirements that were resolved, sorted. */
  requirements: string[];
  /** One line for each wheel, by target: `numpy 2.2.1 sha256:…`. */
  targets: Record<string, string[]>;
}

export const lockedPackagesSchema: z.ZodType<LockedPackages> = z.strictObject({
  requirements: z.array(z.string().max(1000)).max(MAX_PACKAGES),
  targets: z
    .record(
      z.string().regex(TARGET, 'is not a valid target'),
      z.array(z.string().regex(LINE, 'is not a package with version and sha256')).max(MAX_PACKAGES),
    )
    .refine((targets) => Object.keys(targets).length <= MAX_TARGETS, 'has too many targets'),
});

/** Sorted by name, with a digest of the whole list. */
export function pinnedPackages(packages: readonly PinnedPackage[]): PinnedPackages {
  const sorted = packages.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const list = sorted.map(({ name, version, sha256 }) => [name, version, sha256]);
  const digest = createHash('sha256').update(JSON.stringify(list)).digest('hex');
  return { digest: `sha256:${digest}`, packages: sorted };
}

function packageLines({ packages }: PinnedPackages): string[] {
  return packages.map(({ name, version, sha256 }) => `${name} ${version} sha256:${sha256}`);
}

/** What a lock says about one target. */
export type TargetPins =
  | { kind: 'unpinned' }
  | { kind: 'pinned'; pins: PinnedPackages }
  /** The lock pins packages, but not these: why, as the end of a sentence. */
  | { kind: 'missing'; reason: string };

export function pinsOfTarget(
  locked: LockedPackages | undefined,
  target: string,
  requirements: readonly string[],
): TargetPins {
  if (!locked || Object.keys(locked.targets).length === 0) return { kind: 'unpinned' };
  if (JSON.stringify(locked.requirements) !== JSON.stringify(requirements))
    return {
      kind: 'missing',
      reason: `it pins them for other requirements (${locked.requirements.join(', ')})`,
    };
  const lines = Object.hasOwn(locked.targets, target) ? locked.targets[target] : undefined;
  if (lines) return { kind: 'pinned', pins: pinnedPackages(lines.map(parseLine)) };
  const others = Object.keys(locked.targets).join(', ');
  return { kind: 'missing', reason: `it pins them only for ${others}, not for ${target}` };
}

function parseLine(line: string): PinnedPackage {
  const [, name = '', version = '', sha256 = ''] = LINE.exec(line) ?? [];
  return { name, version, sha256 };
}

/** Adds what was installed here to what a lock pins for other targets; undefined if there is nothing to pin. */
export function mergeLocked(
  requirements: readonly string[],
  installed: Readonly<Record<string, PinnedPackages>>,
  before: LockedPackages | undefined,
): LockedPackages | undefined {
  const isSame = before && JSON.stringify(before.requirements) === JSON.stringify(requirements);
  const here = Object.entries(installed).map(([target, pins]) => [target, packageLines(pins)] as const);
  const all = { ...(isSame ? before.targets : {}), ...Object.fromEntries(here) };
  const targets = Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (targets.length === 0) return undefined;
  return { requirements: [...requirements], targets: Object.fromEntries(targets) };
}

/** The difference in words, one entry for each package: `numpy 2.2.1 -> 2.3.0`. */
export function diffPackages(before: PinnedPackages, after: PinnedPackages): string[] {
  const [old, now] = [before, after].map(
    ({ packages }) => new Map(packages.map((one) => [one.name, one] as const)),
  );
  const names = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].toSorted();
  return names.flatMap((name) => {
    const [was, is] = [old?.get(name), now?.get(name)];
    if (!was) return [`+ ${name} ${is?.version ?? ''}`];
    if (!is) return [`- ${name} ${was.version}`];
    if (was.version !== is.version) return [`${name} ${was.version} -> ${is.version}`];
    if (was.sha256 === is.sha256) return [];
    return [`${name} ${was.version}: sha256 ${was.sha256.slice(0, 12)}… -> ${is.sha256.slice(0, 12)}…`];
  });
}

/** What changed between two states of a lock, one line for each package, with its target. */
export function diffLocked(before: LockedPackages | undefined, after: LockedPackages | undefined): string[] {
  const targets = [...new Set([before, after].flatMap((one) => Object.keys(one?.targets ?? {})))].toSorted();
  const at = (locked: LockedPackages | undefined, target: string): PinnedPackages =>
    pinnedPackages((locked?.targets[target] ?? []).map(parseLine));
  return targets.flatMap((target) =>
    diffPackages(at(before, target), at(after, target)).map((line) => `${target}: ${line}`),
  );
}
