/**
 * From arguments as a model wrote them to parameters as the skill wants them.
 *
 * @module
 */

/** Takes anything: what does not fit stays as it is, for the skill's own schema to refuse. */
export type Restore = (value: unknown) => unknown;

export interface RestoredProperty {
  /** As the skill calls it. */
  name: string;
  restore: Restore | undefined;
  /** Null stands for a property that is not there. */
  dropsNull: boolean;
}

/** One after the other; undefined where none does anything. */
export function eachOf(restores: readonly (Restore | undefined)[]): Restore | undefined {
  // Each once: what was JSON text is none any more.
  const acting = [...new Set(restores)].filter((restore) => restore !== undefined);
  if (acting.length < 2) return acting[0];
  return (value) => acting.reduce((current, restore) => restore(current), value);
}

/** By the name that the model knows. */
export function restoreProperties(properties: ReadonlyMap<string, RestoredProperty>): Restore | undefined {
  const acting = [...properties].some(
    ([spelled, { name, restore, dropsNull }]) => spelled !== name || restore !== undefined || dropsNull,
  );
  if (!acting) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).flatMap(([spelled, item]) => {
      const known = properties.get(spelled);
      if (!known) return [[spelled, item] as const];
      if (known.dropsNull && item === null) return [];
      return [[known.name, known.restore ? known.restore(item) : item] as const];
    });
    return Object.fromEntries(entries);
  };
}

/** Of all properties that the schema does not name. */
export function restoreOthers({ properties = {} }: { properties?: unknown }, restore: Restore): Restore {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(
      ([name, item]) => [name, Object.hasOwn(properties as object, name) ? item : restore(item)] as const,
    );
    return Object.fromEntries(entries);
  };
}

/** A value that the provider's schema cannot describe comes as JSON text. */
export function fromJsonText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
