/**
 * Chooses the container backend of a skill. The operator sets the backends and their order. A manifest may request one, and
 * may demand its own kernel, but never gets weaker isolation than the operator's first choice.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { BACKENDS, type BackendName } from './contract.ts';

const VARIABLE = 'SKILLCELL_CONTAINER_RUNTIMES';
/** Backends with a user-space kernel between the skill and the host kernel. */
const OWN_KERNEL: ReadonlySet<string> = new Set<BackendName>(['runsc']);

/** The backends from the operator's environment; undefined if it does not list any. */
export function operatorBackends(
  text: string | undefined = process.env[VARIABLE],
): readonly BackendName[] | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return text.split(',').map((word) => {
    const backend = BACKENDS.find((known) => known === word.trim());
    if (backend !== undefined) return backend;
    throw new SkillError('usage', `${VARIABLE} names "${word.trim()}", which is not a container runtime`, {
      fix: `Set ${VARIABLE} to a comma-separated list of ${BACKENDS.join(', ')}, or unset it.`,
    });
  });
}

export interface Choice {
  /** Backends that the operator allows, preferred one first; absent: all of them, and gVisor only for skills that demand it. */
  listed: readonly BackendName[] | undefined;
  /** `container.runtime` of the manifest. */
  requested: string | undefined;
}

/** The backends that may run the skill, in the order to try them; empty if none meets its demand. */
export function candidates({ listed, requested }: Choice): readonly BackendName[] {
  const all = listed ?? BACKENDS;
  if (requested === undefined) return listed ?? BACKENDS.filter((backend) => !OWN_KERNEL.has(backend));
  if (OWN_KERNEL.has(requested)) return all.filter((backend) => OWN_KERNEL.has(backend));
  if (!isBackend(requested)) return [];
  const usual = candidates({ listed, requested: undefined });
  // A request must not weaken the operator's first choice.
  const isWeaker = usual[0] !== undefined && OWN_KERNEL.has(usual[0]);
  if (isWeaker || !usual.includes(requested)) return usual;
  return [requested, ...usual.filter((backend) => backend !== requested)];
}

function isBackend(name: string): name is BackendName {
  return BACKENDS.some((backend) => backend === name);
}

/** The error for a manifest whose demand no allowed backend meets. */
export function unmetDemand({ listed, requested }: Choice): SkillError {
  const known = requested !== undefined && isBackend(requested);
  const message = known
    ? `The skill demands the container runtime "${requested}", which ${VARIABLE} or the option "makes" does not allow`
    : `The skill demands the container runtime "${requested}", which Skillcell does not know`;
  const fix = known
    ? `Set ${VARIABLE}=${[requested, ...(listed ?? [])].join(',')} to allow it.`
    : `Name one of ${BACKENDS.join(', ')} under container.runtime, or leave it out.`;
  return new SkillError('skill_unavailable', message, {
    fix,
    detail: { field: 'container.runtime', name: requested },
  });
}
