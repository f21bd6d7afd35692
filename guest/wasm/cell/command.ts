/**
 * A WASI preview1 command: parameters on stdin, the result on stdout, one fresh instance per call.
 *
 * @module
 */
import { GuestEnd, type ModuleFacts } from '../contract.ts';
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
  readonly #fuel: bigint;

  constructor({ module, facts, imports }: CommandInput, host: WasiHost, fuel: bigint) {
    const names = { wasi_snapshot_preview1: imports, wasi_unstable: imports };
    this.#exports = new WebAssembly.Instance(module, names).exports;
    this.#facts = facts;
    this.#fuel = fuel;
    this.#counter().value = fuel;
    host.setMemory(this.#exports['memory']);
  }

  async run(): Promise<Outcome> {
    try {
      if (this.#facts.startExport !== undefined) this.#function(this.#facts.startExport)();
      await WebAssembly.promising(this.#function('_start'))();
      return { kind: 'exit', code: 0 };
    } catch (error) {
      if ((this.#counter().value as bigint) < 0n) return { kind: 'limit', limit: 'fuel' };
      return error instanceof GuestEnd || error instanceof Error
        ? outcomeOf(error)
        : outcomeOf(new Error('trap'));
    }
  }

  usage(): { fuel: bigint; memoryBytes: number } {
    const memory = this.#exports['memory'] as WebAssembly.Memory | undefined;
    const left = this.#counter().value as bigint;
    return { fuel: this.#fuel - left, memoryBytes: memory?.buffer.byteLength ?? 0 };
  }

  #counter(): WebAssembly.Global {
    return this.#exports[this.#facts.fuelExport] as WebAssembly.Global;
  }

  #function(name: string): () => unknown {
    return this.#exports[name] as () => unknown;
  }
}
