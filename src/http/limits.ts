/**
 * Converts the access file to limits of the dispatcher.
 *
 * @module
 */
import type { DispatchOptions, Limits } from '../inside.ts';
import type { AccessRules } from './access-file.ts';

export function dispatchOptions(
  rules: () => AccessRules,
  ofTenant: (name: string) => Limits,
): DispatchOptions {
  return {
    all: rules().limits as Lane,
    tenant: (name) => ofTenant(name) as Lane,
    skill: (name) => limitsOf(rules().skills, name) as Lane,
  };
}

type Lane = NonNullable<DispatchOptions['all']>;

/** Own keys only: a tenant may be called `constructor`. */
export function limitsOf<T extends Limits>(limits: Record<string, T>, name: string): Partial<T> {
  const key = Object.hasOwn(limits, name) ? name : '*';
  return limits[key] ?? {};
}
