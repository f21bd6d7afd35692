/**
 * Runs a module before and after metering, and compares. Only modules that end within a little fuel are compared:
 * then the original, which nothing could stop, ends as well.
 *
 * @module
 */
import type { CoreModule } from '../../../guest/wasm/binary/core-module.ts';
import { rewriteModule, type RewrittenModule } from '../../../guest/wasm/install/rewrite.ts';
import { fuzzTarget, type FuzzTarget } from '../target.ts';
import { accepts, MAX_PAGES, modulesOf, mutatedBinaries } from './binaries.ts';

/** Few enough calls that no stack overflows. */
const FUEL = 20_000n;
const INPUT = 5;

export const behaviourTarget: FuzzTarget = fuzzTarget({
  name: 'behaviour',
  suiteRuns: 10_000,
  input: mutatedBinaries(),
  check: (bytes) => accepts(bytes, () => modulesOf(bytes).forEach(compareBehaviour)),
});

function compareBehaviour(module: CoreModule): void {
  const rewritten = rewriteModule(module, { maxPages: MAX_PAGES, takenNames: new Set() });
  if (!WebAssembly.validate(module.bytes.slice(module.start, module.end))) return;
  const difference = differenceInBehaviour(module, rewritten);
  if (difference !== undefined) throw new Error(difference);
}

/** Describes how the two differ, if they do. */
export function differenceInBehaviour(module: CoreModule, rewritten: RewrittenModule): string | undefined {
  if (!isComparable(module, rewritten)) return undefined;
  const after = run(rewritten.bytes, rewritten.facts.fuelExport);
  if (after === 'not comparable') return undefined;
  const before = run(module.bytes.slice(module.start, module.end), undefined);
  if (before === 'not comparable' || before === after) return undefined;
  return `The original ${before}, the metered module ${after}`;
}

/** Ceilings, start functions and missing imports are meant to make a difference. */
function isComparable(module: CoreModule, { facts }: RewrittenModule): boolean {
  const sameMemory = module.memories.every((memory, index) => memory.max === facts.memories[index]?.max);
  return sameMemory && module.imports.length === 0 && module.startFunction === undefined;
}

function run(bytes: Uint8Array, fuelExport: string | undefined): string {
  let fuel: WebAssembly.Global | undefined;
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    if (fuelExport !== undefined) {
      fuel = exports[fuelExport] as WebAssembly.Global;
      fuel.value = FUEL;
    }
    const entry = exports['run'];
    if (typeof entry !== 'function') return 'not comparable';
    return `returned ${String((entry as (input: number) => unknown)(INPUT))}`;
  } catch (error) {
    if (error instanceof RangeError) return 'not comparable';
    if (fuel !== undefined && fuel.value < 0n) return 'not comparable';
    return error instanceof Error
      ? `threw ${error.name}: ${error.message.replace(/@\+\d+.*/su, '')}`
      : 'threw';
  }
}
