/**
 * The cost of counting fuel: the same core module, as compiled and as installed, on a long text.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parseComponent } from '../../../guest/wasm/binary/component.ts';
import type { CoreModule } from '../../../guest/wasm/binary/core-module.ts';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { INLINING_FLAG } from '../../../src/cell/engines/component/engine.ts';
import { quantile } from '../statistics.ts';
import { isBinary, PARAMS, type Language } from './languages.ts';

export interface FuelCost {
  language: string;
  plainMs: number;
  meteredMs: number;
  /** 0.1 means a tenth more time. */
  overhead: number;
}

const REPEATS = 200;
/** Enough runs that V8 has optimised both modules before measuring. */
const WARM_UP = 150;
const ROUNDS = 200;
/** Long jobs are measured less often, but at least this often. */
const MAX_MS = 30_000;
const FEWEST = 30;
/** The same work takes the same time; anything above that is other load on the machine. */
const QUIET = 0.1;
const MAX_PAGES = 1024;
const FUEL = 2n ** 60n;

/** Undefined for a binary that is not a single module without imports, which cannot run without a cell. */
export function measureFuel(language: Language): FuelCost | undefined {
  if (!isBinary(language)) return undefined;
  const bytes = readFileSync(join(language.dir, 'skill.wasm'));
  const modules = bytes[6] === 1 ? parseComponent(new Reader(bytes)).modules : [];
  const [module] = modules;
  if (!module || modules.length > 1 || module.imports.length > 0) return undefined;
  const params = new TextEncoder().encode(
    JSON.stringify({ text: `${String(PARAMS['text'])} `.repeat(REPEATS) }),
  );
  // As in a cell, and for both, so that fuel is the only difference.
  setFlagsFromString(INLINING_FLAG);
  return compare(language.name, [plainly(module), metered(module)], params);
}

interface Program {
  module: WebAssembly.Module;
  fuelExport?: string;
  startExport?: string | undefined;
}

function plainly(module: CoreModule): Program {
  return { module: new WebAssembly.Module(module.bytes.slice(module.start, module.end)) };
}

function metered(module: CoreModule): Program {
  const { bytes, facts } = rewriteModule(module, { maxPages: MAX_PAGES, takenNames: new Set() });
  const { fuelExport, startExport } = facts;
  return { module: new WebAssembly.Module(bytes), fuelExport, startExport };
}

function compare(language: string, [plain, metered]: [Program, Program], params: Uint8Array): FuelCost {
  const samples: [plain: number[], metered: number[]] = [[], []];
  const ends = performance.now() + MAX_MS;
  const isDone = (): boolean => samples[0].length >= FEWEST && performance.now() > ends;
  for (let round = 0; round < WARM_UP + ROUNDS && !isDone(); round++) {
    const plainMs = runOnce(plain, params);
    const meteredMs = runOnce(metered, params);
    if (round < WARM_UP) continue;
    samples[0].push(plainMs);
    samples[1].push(meteredMs);
  }
  const [plainMs, meteredMs] = [quantile(samples[0], QUIET), quantile(samples[1], QUIET)];
  return { language, plainMs, meteredMs, overhead: meteredMs / plainMs - 1 };
}

/** Milliseconds of the skill's own function; the instance is created before. */
function runOnce({ module, fuelExport, startExport }: Program, params: Uint8Array): number {
  const { exports } = new WebAssembly.Instance(module);
  if (fuelExport !== undefined) (exports[fuelExport] as WebAssembly.Global).value = FUEL;
  if (startExport !== undefined) (exports[startExport] as () => void)();
  const allocate = exports['cabi_realloc'] as (...args: number[]) => number;
  const execute = exports['execute'] as (at: number, length: number) => number;
  const at = allocate(0, 0, 1, params.length);
  new Uint8Array((exports['memory'] as WebAssembly.Memory).buffer, at, params.length).set(params);
  const began = performance.now();
  execute(at, params.length);
  return performance.now() - began;
}
