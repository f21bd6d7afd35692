/**
 * `dlopen` and `dlsym`, as far as Python uses them: libraries are part of the instance from the start, so these only
 * look them up. No other file can be loaded, whatever its origin.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { LinkPlan } from './plan.ts';

/** Offset of the path in the C library's record of a library. */
const PATH_OFFSET = 36;

export type LoaderCalls = Record<'_dlopen_js' | '_dlsym_js', (...args: number[]) => number>;

export function loaderCalls(memory: GuestMemory, plan: LinkPlan | undefined): LoaderCalls {
  const entryPoints = new Map(Object.entries(plan?.entryPoints ?? {}));
  const find = (handle: number): Record<string, number> | undefined =>
    entryPoints.get(memory.text(handle + PATH_OFFSET));
  return {
    _dlopen_js: (handle = 0) => (find(handle) ? 1 : 0),
    _dlsym_js: (handle = 0, name = 0) => {
      const names = find(handle) ?? {};
      const symbol = memory.text(name);
      return Object.hasOwn(names, symbol) ? (names[symbol] ?? 0) : 0;
    },
  };
}
