/**
 * Links installed binaries and creates instances. Whatever a component is, linking results in an instance or in a
 * LinkError, and creating an instance throws nothing.
 *
 * @module
 */
import type { Plan } from '../../../guest/wasm/contract.ts';
import { LinkError } from '../../../guest/wasm/link/errors.ts';
import { prepareComponent } from '../../../guest/wasm/link/linker.ts';
import { install } from '../../../guest/wasm/install/plan.ts';
import { createWasi } from '../../../guest/wasm/wasi/host.ts';
import { fuzzTarget, type FuzzTarget } from '../target.ts';
import { accepts, MAX_PAGES, mutatedBinaries } from './binaries.ts';

const LIMITS = {
  fuel: 20_000n,
  handles: 64,
  hostCalls: 100,
  valueBytes: 65_536,
  transferBytes: 1 << 20,
  pages: 64,
  tableEntries: 10_000,
};

const wasi = createWasi();

export const linkTarget: FuzzTarget = fuzzTarget({
  name: 'link',
  suiteRuns: 10_000,
  input: mutatedBinaries(),
  check: (bytes) =>
    accepts(bytes, () => {
      const installed = install(bytes, { maxPages: MAX_PAGES });
      linkInstalled(installed.plan, installed.modules);
    }),
});

/** @throws what must not be thrown. */
function linkInstalled(plan: Plan, modules: readonly Uint8Array[]): void {
  if (!plan.component) return;
  const inputs = plan.modules.map((facts, index) => ({
    module: new WebAssembly.Module(modules[index] ?? new Uint8Array()),
    facts,
  }));
  const host = wasi.createHost({ broker: { request: () => Promise.reject(new Error('no broker')) } });
  try {
    const prepared = prepareComponent({ component: plan.component, modules: inputs, host: wasi.interfaces });
    prepared.instantiate(LIMITS).discard();
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
  } finally {
    host.finish();
  }
}
