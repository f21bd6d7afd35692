/**
 * What engines have in common that run WebAssembly in a Node process: one process serves many calls.
 *
 * @module
 */
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import type { Wall } from '../../contract.ts';
import { wasmEnforcement, type OwnEnforcement } from './wasm-enforcement.ts';

export interface WasmEngineOptions {
  home: string;
  /** The strongest wall that works on this machine, found by probing. */
  wall: () => Promise<Wall>;
}

export abstract class WasmEngine<Options extends WasmEngineOptions = WasmEngineOptions> {
  readonly reusable = true;
  protected readonly options: Options;
  /** Why the grant is enforced by the engine itself, where it differs from other engines. */
  protected abstract readonly inWasm: OwnEnforcement;

  constructor(options: Options) {
    this.options = options;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return wasmEnforcement(wall, this.inWasm);
  }
}
