/**
 * One call of a skill in Node, by the same rules as in Wasm. The host also uses it for skills that run `in_process`.
 *
 * @module
 */
import { executeOf, type SkillModule } from '../wasm/js/prelude/entry-point.ts';
import { toJson } from '../wasm/js/prelude/json.ts';

export type { SkillModule };

/** Runs the skill once and returns its result as JSON text. `entry` is only for error messages. */
export async function callSkill(skill: SkillModule, entry: string, params: unknown): Promise<string> {
  const execute = executeOf(skill, entry);
  return toJson(await execute(params));
}
