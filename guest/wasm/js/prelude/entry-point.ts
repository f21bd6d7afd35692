/**
 * The shape of a JavaScript skill in every mode: a module that exports `execute(params)`, or has as its default export
 * a function, or a class or object with that method.
 *
 * @module
 */

export type Execute = (params: unknown) => unknown;
export type SkillModule = Record<string, unknown>;

/** `execute` itself, or that of the default export. `entry` is used in the message. */
export function executeOf(skill: SkillModule, entry: string): Execute {
  if (typeof skill['execute'] === 'function') return skill['execute'] as Execute;
  const standard = skill['default'];
  const holder = isClass(standard) ? new standard() : standard;
  const execute = (holder as { execute?: unknown } | null | undefined)?.execute;
  if (typeof execute === 'function') return (params) => (execute as Execute).call(holder, params);
  if (typeof standard === 'function') return standard as Execute;
  throw new TypeError(
    `${entry} exports neither a function "execute" nor a default class or object with a method "execute"`,
  );
}

function isClass(value: unknown): value is new () => unknown {
  return (
    typeof value === 'function' && typeof (value.prototype as { execute?: unknown })?.execute === 'function'
  );
}
