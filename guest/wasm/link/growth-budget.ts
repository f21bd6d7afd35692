/**
 * One budget for all memories of an instance, and one for all its tables. Modules grow them without the host, so those
 * that share a budget ask first, through a table of functions in each of them.
 *
 * @module
 */
import { BUDGET_SLOTS, GuestEnd } from '../contract.ts';

const REFUSED = -1;

/** `(module (import "b" "0" (func (param i32) (result i32))) … (export "0" (func 0)) …)`: only Wasm functions fit in a table. */
const BRIDGE = makeBridge();

export class GrowthBudget {
  readonly #pages: Account;
  readonly #entries: Account;
  #bridge: WebAssembly.Exports | undefined;

  constructor(limits: { pages: number; entries: number }) {
    this.#pages = new Account(limits.pages);
    this.#entries = new Account(limits.entries);
  }

  /** Initial sizes of a module's memories and tables. */
  claim({ pages, entries }: { pages: number; entries: number }): void {
    const isGranted = this.#pages.ask(pages) !== REFUSED && this.#entries.ask(entries) !== REFUSED;
    if (!isGranted) throw new GuestEnd('limit', 'memory');
  }

  /** Fills the table of one module. */
  serve(table: WebAssembly.Table): void {
    const bridge = (this.#bridge ??= this.#makeBridge());
    for (const at of BUDGET_SLOTS.keys()) table.set(at, bridge[at] as CallableFunction);
  }

  /** Whether a growth was refused that the memory or table itself had room for. */
  get hasRefused(): boolean {
    return this.#pages.hasRefused || this.#entries.hasRefused;
  }

  /** Every call starts with what has been used so far. */
  mark(): void {
    this.#pages.mark();
    this.#entries.mark();
  }

  startOver(): void {
    this.#pages.startOver();
    this.#entries.startOver();
  }

  #makeBridge(): WebAssembly.Exports {
    const [pages, entries] = [this.#pages, this.#entries];
    const functions: Record<(typeof BUDGET_SLOTS)[number], (value: number) => number> = {
      'may-grow-memory': (wanted) => pages.ask(wanted),
      'did-grow-memory': (before) => pages.settle(before),
      'may-grow-table': (wanted) => entries.ask(wanted),
      'did-grow-table': (before) => entries.settle(before),
    };
    const b = Object.fromEntries(BUDGET_SLOTS.map((name, at) => [at, functions[name]]));
    return new WebAssembly.Instance(BRIDGE, { b }).exports;
  }
}

class Account {
  readonly #limit: number;
  #used = 0;
  #usedByStart = 0;
  /** Reserved for a growth that may still fail. */
  #pending = 0;
  hasRefused = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  ask(amount: number): number {
    const wanted = amount >>> 0;
    this.#pending = 0;
    if (wanted > this.#limit - this.#used) {
      this.hasRefused = true;
      return REFUSED;
    }
    this.#used += wanted;
    this.#pending = wanted;
    return amount;
  }

  settle(before: number): number {
    if (before === REFUSED) this.#used -= this.#pending;
    this.#pending = 0;
    return before;
  }

  mark(): void {
    this.#usedByStart = this.#used;
  }

  startOver(): void {
    this.#used = this.#usedByStart;
    this.#pending = 0;
    this.hasRefused = false;
  }
}

function makeBridge(): WebAssembly.Module {
  const names = [...BUDGET_SLOTS.keys()].map((at) => 0x30 + at);
  const imports = names.flatMap((name) => [1, 0x62, 1, name, 0, 0]);
  const exports = names.flatMap((name, at) => [1, name, 0, at]);
  const section = (id: number, ...content: number[]): number[] => [id, content.length, ...content];
  return new WebAssembly.Module(
    Uint8Array.of(
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, 1, 0x60, 1, 0x7f, 1, 0x7f),
      ...section(2, names.length, ...imports),
      ...section(7, names.length, ...exports),
    ),
  );
}
