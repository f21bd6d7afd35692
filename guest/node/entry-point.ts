/**
 * What a skill in JavaScript is: a module with `execute(params)`, or with a class or object that has it as its default
 * export, whose result is JSON. The host uses it as well, for skills that run `in_process`.
 *
 * @module
 */
import { toJson } from '../wasm/js/prelude/json.ts';

type Execute = (params: unknown) => unknown;
export type SkillModule = Record<string, unknown>;

/** Runs the skill once and gives its result as JSON text. `entry` is for people. */
export async function callSkill(skill: SkillModule, entry: string, params: unknown): Promise<string> {
  const execute = executeOf(skill, entry);
  return toJson(await execute(params));
}

/** `execute` itself, or that of an object or class that is the default export. */
function executeOf(skill: SkillModule, entry: string): Execute {
  if (typeof skill['execute'] === 'function') return skill['execute'] as Execute;
  const standard = skill['default'];
  const holder = isClass(standard) ? new standard() : standard;
  const execute = (holder as { execute?: unknown } | null | undefined)?.execute;
  if (typeof execute === 'function') return (params) => (execute as Execute).call(holder, params);
  if (typeof standard === 'function') return standard as Execute;
  throw new TypeError(
    `${entry} exports no function "execute", and no class or object with a method "execute" as default`,
  );
}

function isClass(value: unknown): value is new () => unknown {
  return (
    typeof value === 'function' && typeof (value.prototype as { execute?: unknown })?.execute === 'function'
  );
}
