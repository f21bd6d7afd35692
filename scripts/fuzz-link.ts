/**
 * Links what was installed and makes an instance of it. Whatever a component is, linking ends in an instance or in a
 * LinkError, and making an instance throws nothing at all.
 *
 * @module
 */
import type { Plan } from '../guest/wasm/contract.ts';
import { LinkError } from '../guest/wasm/link/errors.ts';
import { prepareComponent } from '../guest/wasm/link/linker.ts';
import { createWasi } from '../guest/wasm/wasi/host.ts';

const LIMITS = { fuel: 20_000n, handles: 64, hostCalls: 100, valueBytes: 65_536, transferBytes: 1 << 20 };

const wasi = createWasi();

/** @throws what must not be thrown. */
export function linkInstalled(plan: Plan, modules: readonly Uint8Array[]): void {
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
