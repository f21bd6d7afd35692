/**
 * What a skill reaches through the skills that it may call, for the person who decides about it.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { capabilitySet } from '../load/capability-set.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { BUNDLED_PREFIX } from '../load/locate.ts';
import type { Skill } from '../load/skill.ts';
import { nameMatches } from '../manifest/star-pattern.ts';

/** A skill that another may call, and what it asks for beyond that. */
export interface Reached {
  skill: string;
  /** The skills between, outermost first. */
  through: string[];
  /** Its own capability set, without limits and modes; or why it cannot be loaded. */
  asks: string[];
}

/** More than this are not listed one by one. */
const MAX_REACHED = 200;
/** Lines of a capability set that say nothing about what a skill reaches. */
const OWN_BUSINESS = /^(?:limit|execution|execution_mode|syscalls) /;

export async function reachOf(
  { bundle }: Skill,
  { list, load }: { list: () => readonly BundleLocation[]; load: (ref: string) => Promise<Skill> },
): Promise<Reached[]> {
  const { name, capabilities } = bundle.manifest;
  if (!capabilities.skills) return [];
  const known = list().map(({ ref }) => ref);
  const reached = new Map<string, Reached>();
  const waiting: { patterns: readonly string[]; through: string[] }[] = [
    { patterns: capabilities.skills, through: [] },
  ];
  for (let next = waiting.shift(); next && reached.size < MAX_REACHED; next = waiting.shift()) {
    const { patterns, through } = next;
    const covered = known.filter((ref) => patterns.some((pattern) => nameMatches(pattern, idOf(ref))));
    for (const ref of covered) {
      const skill = idOf(ref);
      if (skill === name || reached.has(skill)) continue;
      const { asks, skills } = await requestsOf(ref, load);
      reached.set(skill, { skill, through, asks });
      if (skills) waiting.push({ patterns: skills, through: [...through, skill] });
    }
  }
  return [...reached.values()];
}

/** One sentence for each: `through web/fetch_title: network example.com GET any`. */
export function describeReach({ skill, through, asks }: Reached): string {
  const way = [...through, skill].join(' → ');
  return `through ${way}: ${asks.join(', ') || 'asks for nothing'}`;
}

async function requestsOf(
  ref: string,
  load: (ref: string) => Promise<Skill>,
): Promise<{ asks: string[]; skills?: readonly string[] | undefined }> {
  try {
    const { manifest } = (await load(ref)).bundle;
    const asks = capabilitySet(manifest).filter((line) => !OWN_BUSINESS.test(line));
    return { asks, skills: manifest.capabilities.skills };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { asks: [`cannot be loaded now (${error.code})`] };
  }
}

function idOf(ref: string): string {
  return ref.startsWith(BUNDLED_PREFIX) ? ref.slice(BUNDLED_PREFIX.length) : ref;
}
