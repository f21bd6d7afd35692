/**
 * Combines the native code of packages into what an engine with them needs.
 *
 * @module
 */
import { stackEnd } from '../engine/boot.ts';
import { trampolineModule } from '../engine/trampoline.ts';
import { libraryCode, type LibraryCode } from './attach.ts';
import { readLibrary } from './library.ts';
import { inOrder } from './order.ts';
import { planLinks } from './plan.ts';
import { readShape } from './shape.ts';
import { engineSymbols, type EngineSymbols } from './symbols.ts';

export interface Linked {
  code: LibraryCode;
  trampoline: Uint8Array;
  /** Names that the engine must export. */
  engineExports: string[];
}

/** Undefined without libraries; throws a `LinkError` for a refused one. */
export function linkLibraries(
  engine: Uint8Array,
  libraries: ReadonlyMap<string, Uint8Array>,
): Linked | undefined {
  return libraries.size === 0 ? undefined : linkTo(engineSymbols(readShape(engine)), libraries);
}

export function linkTo(symbols: EngineSymbols, libraries: ReadonlyMap<string, Uint8Array>): Linked {
  const ordered = inOrder([...libraries].map(([path, bytes]) => readLibrary(path, bytes)));
  const { plan, engineExports, arities } = planLinks({
    engine: symbols,
    libraries: ordered,
    firstAddress: stackEnd(symbols.variables.get('__stack_low') ?? 0),
    // After the trampoline, which takes the first slot.
    firstSlot: symbols.tableSlots + 1,
  });
  const modules = ordered.map(({ shape }) => new WebAssembly.Module(shape.module.bytes));
  return { code: libraryCode(plan, modules), trampoline: trampolineModule(arities), engineExports };
}
