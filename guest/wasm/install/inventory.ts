/**
 * What an instance of a core module can change, apart from tables that its code changes: its memory and its globals. If
 * all of it can be read and written from outside, an instance can be reset to its initial state.
 *
 * @module
 */
import type { CoreModule } from '../binary/core-module.ts';

export interface StateExport {
  name: string;
  kind: 'memory' | 'global';
  index: number;
}

/** JavaScript reads and writes these without loss, unlike vectors, the bits of a NaN, and references. */
const INTEGERS: ReadonlySet<number> = new Set([0x7f, 0x7e]);

/** Its own memories, by the same names as in the inventory. */
export function ownMemories(module: CoreModule, nameFor: (stem: string) => string): StateExport[] {
  const imported = module.spaces.memory - module.memories.length;
  return module.memories.map((_, at) => {
    const index = imported + at;
    return { name: nameFor(`memory-${index}`), kind: 'memory', index };
  });
}

/** Imported memories and globals belong to the module that exports them. Undefined if there is state out of reach. */
export function takeInventory(
  module: CoreModule,
  nameFor: (stem: string) => string,
): StateExport[] | undefined {
  const found = ownMemories(module, nameFor);
  const add = (kind: StateExport['kind'], index: number): number =>
    found.push({ name: nameFor(`${kind}-${index}`), kind, index });
  const importedGlobals = module.spaces.global - module.globals.length;
  for (const [at, { mutable, valueType }] of module.globals.entries()) {
    if (!mutable) continue;
    if (!INTEGERS.has(valueType)) return undefined;
    add('global', importedGlobals + at);
  }
  return found;
}
