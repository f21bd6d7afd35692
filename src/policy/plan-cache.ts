/**
 * Caches plans of calls that would get the same plan again, because they depend on nothing that can change: no paths on
 * disk and no variables of the host.
 *
 * @module
 */
import type { Skill } from '../load/skill.ts';
import { planCall, type Planned, type PlanInput, type PlanOptions, type Way } from './plan.ts';

/** More different calls of one skill than this are not worth caching. */
const MAX_PER_SKILL = 64;

export class PlanCache<W extends Way> {
  readonly #known = new WeakMap<Skill, Map<string, Planned<W>>>();

  async plan(input: PlanInput<W>): Promise<Planned<W>> {
    if (!isStable(input)) return planCall(input);
    const key = keyOf(input.options);
    const plans = this.#known.get(input.skill) ?? new Map<string, Planned<W>>();
    const known = plans.get(key);
    if (known) return known;
    const plan = await planCall(input);
    if (!isFinal(plan) || plans.size >= MAX_PER_SKILL) return plan;
    plans.set(key, plan);
    this.#known.set(input.skill, plans);
    return plan;
  }
}

function isStable({ skill, adjust }: Pick<PlanInput<Way>, 'skill' | 'adjust'>): boolean {
  const { kind, manifest } = skill.bundle;
  const { capabilities, env } = manifest;
  // The plan of a script depends on its command, and reads the workspace.
  if (kind === 'script') return false;
  return adjust === undefined && capabilities.filesystem.length === 0 && Object.keys(env).length === 0;
}

/** Images and missing programs may be installed at any time, and only short calls benefit from the cache. */
function isFinal({ plan, way }: Planned<Way>): boolean {
  return plan.choice.fallback === undefined && way.isReusable;
}

function keyOf({ timeout, memory, workspace, execution, isolated, trustRemoteCode }: PlanOptions): string {
  return JSON.stringify([timeout, memory, workspace, execution, isolated, trustRemoteCode]);
}
