/**
 * A WASI preview1 command: parameters on stdin, the result on stdout, one fresh instance per call.
 *
 * @module
 */
import type { ModuleFacts } from '../contract.ts';
import { outcomeOf, type Outcome } from '../link/outcome.ts';
import type { Preview1Imports } from '../wasi/preview1/imports.ts';
import type { WasiHost } from '../wasi/host.ts';

export interface CommandInput {
  module: WebAssembly.Module;
  facts: ModuleFacts;
  imports: Preview1Imports;
}

export class CommandInstance {
  readonly #exports: WebAssembly.Exports;
  readonly #facts: ModuleFacts;
  readonly #host: WasiHost;
  readonly #fuel: bigint;

  constructor({ module, facts, imports }: CommandInput, host: WasiHost, fuel: bigint) {
    const names = { wasi_snapshot_preview1: imports, wasi_unstable: imports };
    this.#exports = new WebAssembly.Instance(module, names).exports;
    this.#facts = facts;
    this.#host = host;
    this.#fuel = fuel;
    this.#counter().value = fuel;
    host.setMemory(this.#exports['memory']);
  }

  async run(): Promise<Outcome> {
    let thrown: { error: unknown } | undefined;
    try {
      if (this.#facts.startExport !== undefined) this.#function(this.#facts.startExport)();
      await WebAssembly.promising(this.#function('_start'))();
    } catch (error) {
      thrown = { error };
    }
    // A guest may catch what ended it; the call has ended all the same.
    if (this.#host.guestEnd) return outcomeOf(this.#host.guestEnd);
    if ((this.#counter().value as bigint) < 0n) return { kind: 'limit', limit: 'fuel' };
    return thrown ? outcomeOf(thrown.error) : { kind: 'exit', code: 0 };
  }

  /** Memory that is released with this instance. */
  get heldBytes(): number {
    const memory = this.#exports['memory'];
    return memory instanceof WebAssembly.Memory ? memory.buffer.byteLength : 0;
  }

  usage(): { fuel: bigint; memoryBytes: number } {
    const left = this.#counter().value as bigint;
    return { fuel: this.#fuel - left, memoryBytes: this.heldBytes };
  }

  /** There is one module with one memory, so its ceiling is the total. */
  get isOverBudget(): boolean {
    return false;
  }

  get failedGrowth(): number {
    const { growthExport } = this.#facts;
    const flag = growthExport === undefined ? undefined : this.#exports[growthExport];
    return Number((flag as WebAssembly.Global | undefined)?.value ?? 0);
  }

  #counter(): WebAssembly.Global {
    return this.#exports[this.#facts.fuelExport] as WebAssembly.Global;
  }

  #function(name: string): () => unknown {
    return this.#exports[name] as () => unknown;
  }
}
