/**
 * Plans of calls, made once where the same call would get the same plan: when nothing of it depends on what can change
 * meanwhile, which are paths on the disk and variables of the host.
 *
 * @module
 */
import type { Skill } from '../load/skill.ts';
import { planCall, type Plan, type PlanInput, type PlanOptions } from './plan.ts';

/** More kinds of calls than this of one skill are no habit. */
const MAX_PER_SKILL = 64;

export class Plans {
  readonly #known = new WeakMap<Skill, Map<string, Plan>>();

  async plan(input: PlanInput): Promise<Plan> {
    if (!isSteady(input)) return planCall(input);
    const key = keyOf(input.options);
    const plans = this.#known.get(input.skill) ?? new Map<string, Plan>();
    const known = plans.get(key);
    if (known) return known;
    const plan = await planCall(input);
    if (!isFinal(plan) || plans.size >= MAX_PER_SKILL) return plan;
    plans.set(key, plan);
    this.#known.set(input.skill, plans);
    return plan;
  }
}

function isSteady({ skill, adjust }: PlanInput): boolean {
  const { capabilities, env } = skill.bundle.manifest;
  return adjust === undefined && capabilities.filesystem.length === 0 && Object.keys(env).length === 0;
}

/** Images come and go, and what a mode lacks may be installed meanwhile; and only short calls gain from it. */
function isFinal({ choice, engine }: Plan): boolean {
  return choice.fallback === undefined && engine.reusable;
}

function keyOf({ timeout, memory, workspace, execution, isolated, trustRemoteCode }: PlanOptions): string {
  return JSON.stringify([timeout, memory, workspace, execution, isolated, trustRemoteCode]);
}
