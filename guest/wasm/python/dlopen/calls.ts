/**
 * `dlopen` and `dlsym`, as far as Python uses them: libraries are in the instance from its start, so that they only
 * look up. A file that is not one of them cannot be loaded, whoever made it.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { LinkPlan } from './plan.ts';

/** Of the path in the C library's record of a library. */
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
