/**
 * From the files of packages to what an engine with them is made of.
 *
 * @module
 */
import { stackEnd } from '../engine/boot.ts';
import { trampolineModule } from '../engine/trampoline.ts';
import { readLibrary } from './library.ts';
import { inOrder } from './order.ts';
import { planLinks, type LinkPlan } from './plan.ts';
import { readShape } from './shape.ts';
import { engineSymbols } from './symbols.ts';

const HEAP_ALIGNMENT = 16;

export interface LinkInput {
  engine: Uint8Array;
  /** Bytes of the libraries, by the path where the guest sees them. */
  libraries: ReadonlyMap<string, Uint8Array>;
}

export interface Linked {
  plan: LinkPlan;
  /** Bytes of the libraries, in the order of the plan. */
  libraries: Uint8Array[];
  trampoline: Uint8Array;
  engineExports: string[];
  heapStart: number;
}

/** Throws a `LinkError` for a library that is refused. */
export function linkLibraries({ engine, libraries }: LinkInput): Linked {
  const symbols = engineSymbols(readShape(engine));
  const ordered = inOrder([...libraries].map(([path, bytes]) => readLibrary(path, bytes)));
  const { plan, engineExports, arities } = planLinks({
    engine: symbols,
    libraries: ordered,
    firstAddress: stackEnd(symbols.variables.get('__stack_low') ?? 0),
    // Behind the trampoline, which is the first that is put into the table.
    firstSlot: symbols.tableSlots + 1,
  });
  return {
    plan,
    libraries: ordered.map(({ shape }) => shape.module.bytes),
    trampoline: trampolineModule(arities),
    engineExports,
    heapStart: Math.ceil(plan.end / HEAP_ALIGNMENT) * HEAP_ALIGNMENT,
  };
}
