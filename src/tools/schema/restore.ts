/**
 * Converts the arguments of a model to the parameters that the skill expects.
 *
 * @module
 */

/** Accepts any value; unexpected ones stay unchanged, and the skill's own schema rejects them. */
export type Restore = (value: unknown) => unknown;

export interface RestoredProperty {
  /** The name in the skill's schema. */
  name: string;
  restore: Restore | undefined;
  /** Null represents an absent property. */
  dropsNull: boolean;
}

/** Applies all in order; undefined if there is nothing to do. */
export function chainRestores(restores: readonly (Restore | undefined)[]): Restore | undefined {
  // Each only once: JSON text must not be parsed twice.
  const steps = [...new Set(restores)].filter((restore) => restore !== undefined);
  if (steps.length < 2) return steps[0];
  return (value) => steps.reduce((current, restore) => restore(current), value);
}

/** `properties` is keyed by the name that the model sees. */
export function restoreProperties(properties: ReadonlyMap<string, RestoredProperty>): Restore | undefined {
  const isNeeded = [...properties].some(
    ([spelled, { name, restore, dropsNull }]) => spelled !== name || restore !== undefined || dropsNull,
  );
  if (!isNeeded) return undefined;
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

/** Restores all properties that the schema does not name. */
export function restoreOthers({ properties = {} }: { properties?: unknown }, restore: Restore): Restore {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(
      ([name, item]) => [name, Object.hasOwn(properties as object, name) ? item : restore(item)] as const,
    );
    return Object.fromEntries(entries);
  };
}

/** Parses a value that arrived as JSON text, because the provider's schema cannot describe it. */
export function fromJsonText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
