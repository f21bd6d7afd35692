/**
 * What a skill in JavaScript is, wherever it runs: a module with `execute(params)`, or with a class or object that has it,
 * or a function, as its default export.
 *
 * @module
 */

export type Execute = (params: unknown) => unknown;
export type SkillModule = Record<string, unknown>;

/** `execute` itself, or that of an object or class that is the default export. `entry` is for people. */
export function executeOf(skill: SkillModule, entry: string): Execute {
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
