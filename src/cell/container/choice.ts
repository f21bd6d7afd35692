/**
 * Which make of container a skill gets. The operator decides on the makes and their order; a manifest may wish for one, and
 * may demand a kernel of its own, but never gets less than the operator put first.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { MAKES, type MakeName } from './contract.ts';

const VARIABLE = 'SKILLCELL_CONTAINER_RUNTIMES';
/** A kernel in user space stands between the skill and that of the host. */
const OWN_KERNEL: ReadonlySet<string> = new Set<MakeName>(['runsc']);

/** What the operator's environment names; undefined when it says nothing. */
export function makesOfOperator(
  text: string | undefined = process.env[VARIABLE],
): readonly MakeName[] | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return text.split(',').map((word) => {
    const make = MAKES.find((known) => known === word.trim());
    if (make !== undefined) return make;
    throw new SkillError('usage', `${VARIABLE} names "${word.trim()}", which is not a container runtime`, {
      fix: `Set ${VARIABLE} to names out of ${MAKES.join(', ')}, separated by commas, or unset it.`,
    });
  });
}

export interface Choice {
  /** By the operator, the preferred one first; absent: all of them, and gVisor only for a skill that demands it. */
  listed: readonly MakeName[] | undefined;
  /** `container.runtime` of the manifest. */
  wished: string | undefined;
}

/** The makes that may run the skill, in the order in which they are tried; empty when none does what it demands. */
export function candidates({ listed, wished }: Choice): readonly MakeName[] {
  const all = listed ?? MAKES;
  if (wished === undefined) return listed ?? MAKES.filter((make) => !OWN_KERNEL.has(make));
  if (OWN_KERNEL.has(wished)) return all.filter((make) => OWN_KERNEL.has(make));
  if (!isMake(wished)) return [];
  const usual = candidates({ listed, wished: undefined });
  // A wish must not take away what the operator put first.
  const isWeaker = usual[0] !== undefined && OWN_KERNEL.has(usual[0]);
  if (isWeaker || !usual.includes(wished)) return usual;
  return [wished, ...usual.filter((make) => make !== wished)];
}

function isMake(name: string): name is MakeName {
  return MAKES.some((make) => make === name);
}

/** Nothing that the operator allows does what the manifest demands. */
export function unmetDemand({ listed, wished }: Choice): SkillError {
  const known = wished !== undefined && isMake(wished);
  const message = known
    ? `The skill demands the container runtime "${wished}", which ${VARIABLE} or the option "makes" does not allow`
    : `The skill demands the container runtime "${wished}", which Skillcell does not know`;
  const fix = known
    ? `Set ${VARIABLE}=${[wished, ...(listed ?? [])].join(',')} to allow it.`
    : `Name one of ${MAKES.join(', ')} under container.runtime, or leave it out.`;
  return new SkillError('skill_unavailable', message, {
    fix,
    detail: { field: 'container.runtime', name: wished },
  });
}
