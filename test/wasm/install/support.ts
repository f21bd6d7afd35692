/**
 * Runs modules before and after they are rewritten.
 *
 * @module
 */
import { rewriteModule, type RewrittenModule } from '../../../guest/wasm/install/rewrite.ts';
import { parseModule, wat } from '../binary/support.ts';

export interface Metered {
  rewritten: RewrittenModule;
  exports: Record<string, (...values: unknown[]) => unknown>;
  fuel: WebAssembly.Global;
}

export function rewrite(bytes: Uint8Array, maxPages = 64): RewrittenModule {
  return rewriteModule(parseModule(bytes), { maxPages, takenNames: new Set() });
}

export function plain(text: string): Metered['exports'] {
  return new WebAssembly.Instance(new WebAssembly.Module(wat(text))).exports as unknown as Metered['exports'];
}

export function metered(text: string, maxPages = 64): Metered {
  return meteredBinary(wat(text), maxPages);
}

export function meteredBinary(bytes: Uint8Array, maxPages = 64): Metered {
  const rewritten = rewrite(bytes, maxPages);
  const module = new WebAssembly.Module(rewritten.bytes.slice());
  const exports = new WebAssembly.Instance(module).exports as unknown as Metered['exports'];
  return { rewritten, exports, fuel: exports[rewritten.facts.fuelExport] as unknown as WebAssembly.Global };
}

/** Calls `run` with this much fuel, and returns how it ended. */
export function runWith(job: Metered, fuel: bigint, ...values: unknown[]): 'returned' | 'fuel' | 'trapped' {
  job.fuel.value = fuel;
  try {
    job.exports['run']?.(...values);
    return 'returned';
  } catch {
    return job.fuel.value < 0n ? 'fuel' : 'trapped';
  }
}
