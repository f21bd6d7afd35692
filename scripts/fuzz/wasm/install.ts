/**
 * Parses and rewrites mutated binaries. A finding is an exception other than BinaryError, a valid module that is rewritten
 * to an invalid one, or an invalid one that becomes valid.
 *
 * @module
 */
import { install } from '../../../guest/wasm/install/plan.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { fuzzTarget, type FuzzTarget } from '../target.ts';
import { accepts, MAX_PAGES, modulesOf, mutatedBinaries } from './binaries.ts';

export const installTarget: FuzzTarget = fuzzTarget({
  name: 'install',
  suiteRuns: 10_000,
  input: mutatedBinaries(),
  check: (bytes) => accepts(bytes, () => compareValidity(bytes)) && acceptsOrRefusesToInstall(bytes),
});

function acceptsOrRefusesToInstall(bytes: Uint8Array): boolean {
  // A well-formed binary may still not be a skill; it counts as accepted, because parser and rewriter processed it.
  accepts(bytes, () => install(bytes, { maxPages: MAX_PAGES }));
  return true;
}

/** Metering must neither break a module nor repair one. */
function compareValidity(bytes: Uint8Array): void {
  for (const module of modulesOf(bytes)) {
    const before = WebAssembly.validate(module.bytes.slice(module.start, module.end));
    const { bytes: rewritten } = rewriteModule(module, { maxPages: MAX_PAGES, takenNames: new Set() });
    const after = WebAssembly.validate(rewritten);
    if (before && !after) throw new Error('A valid module was rewritten to an invalid one');
    if (!before && after) throw new Error('An invalid module was rewritten to a valid one');
  }
}
