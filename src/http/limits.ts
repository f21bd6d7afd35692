/**
 * From the access file to the limits of the dispatcher.
 *
 * @module
 */
import type { DispatchOptions } from '../index.ts';
import type { AccessRules, Limits } from './access-file.ts';

export function dispatchOptions(rules: () => AccessRules): DispatchOptions {
  return {
    all: rules().limits as Lane,
    tenant: (name) => byName(rules().tenants, name),
    skill: (name) => byName(rules().skills, name),
  };
}

type Lane = NonNullable<DispatchOptions['all']>;

/** Own keys only: a tenant may be called `constructor`. */
function byName(limits: Record<string, Limits>, name: string): Lane {
  const key = Object.hasOwn(limits, name) ? name : '*';
  return (limits[key] ?? {}) as Lane;
}
