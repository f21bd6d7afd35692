/**
 * One instance of a prepared component: core instances, handle tables and counters of one call.
 *
 * Fuel: every core module counts in its own global, and modules call each other without us. So each gets the whole
 * remaining budget, their use is added up whenever the host runs, and a sum beyond the budget is a fuel limit even if no
 * single module reached it. A component of n modules can burn at most n budgets before that is noticed.
 *
 * @module
 */

import { GuestEnd } from '../contract.ts';
import { AbiContext, PAGE_BYTES, type Border, type TransferBudget } from '../abi/context.ts';
import { HandleTable, type HandleQuota } from '../abi/resources.ts';
import { Image } from '../imaged/image.ts';
import { GrowthBudget } from './growth-budget.ts';
import type { CoreExport, CoreItem, LinkPlan, Step } from './plan.ts';

/**
 * Memory beyond what all modules start with. A memory that grew cannot be reset, and most calls need a little more than
 * the initial size, so this saves growing it. It is the same for every call, so a guest cannot observe a difference.
 */
const SPARE_PAGES = 16;

export interface CallLimits {
  /** In units of the rewriter, for all core modules together: `fuel`. */
  fuel: bigint;
  /** Concurrent handles: `handles`. */
  handles: number;
  /** Calls of host functions: `host_calls`. */
  hostCalls: number;
  /** Size in bytes of one string or list that leaves the guest: `output`. */
  valueBytes: number;
  /** Bytes of everything that leaves the guest: `transfer`. */
  transferBytes: number;
  /** Pages of all memories together: `memory`. */
  pages: number;
  /** Entries of all tables together: `memory`. */
  tableEntries: number;
}

export interface Usage {
  fuel: bigint;
  hostCalls: number;
  memoryBytes: number;
}

/** Creates the functions that core modules import from us. */
export type TrampolineMaker = (running: Running, index: number) => unknown;

export class Running {
  readonly plan: LinkPlan;
  /** The reason why the guest ended. It must not continue, even if it caught the exception. */
  #failure: { error: unknown } | undefined;
  readonly #exports: WebAssembly.Exports[] = [];
  #borders: Border[] = [];
  #contexts: (AbiContext | undefined)[] = [];
  #quota: HandleQuota;
  #transfer: TransferBudget;
  readonly #limits: CallLimits;
  readonly #budget: GrowthBudget;
  readonly #fuel: { counter: WebAssembly.Global; given: bigint }[] = [];
  #fuelSpent = 0n;
  #fuelOfStart = 0n;
  #hostCalls = 0;
  #turn = 0;

  constructor(plan: LinkPlan, limits: CallLimits) {
    this.plan = plan;
    this.#limits = limits;
    this.#budget = new GrowthBudget({ pages: limits.pages, entries: limits.tableEntries });
    this.#quota = freshQuota(limits);
    this.#transfer = freshBudget(limits);
  }

  /** Instantiates every core module in order and runs its start function. */
  start(makeTrampoline: TrampolineMaker): void {
    for (const step of this.plan.steps) {
      this.#budget.claim(step.starts);
      const { exports } = new WebAssembly.Instance(step.module, this.#importsOf(step, makeTrampoline));
      this.#exports.push(exports);
      this.#giveFuel(exports, step.fuelExport);
      if (step.budgetExport !== undefined)
        this.#budget.serve(exports[step.budgetExport] as WebAssembly.Table);
      if (step.startExport === undefined) continue;
      (exports[step.startExport] as CallableFunction)();
      this.settleFuel();
    }
    this.#fuelOfStart = this.#fuelSpent;
    this.#budget.mark();
    if (this.plan.steps.every(({ state }) => state !== undefined)) this.#makeRoom();
  }

  /**
   * Must be taken right after the start. Undefined if the instance has more state than its memory: if its start functions
   * called the host, the answer (a handle, a random number) belongs to one call only.
   */
  takeImage(): Image | undefined {
    if (this.#failure !== undefined || this.#borders.length > 0) return undefined;
    return Image.of(this.plan.steps, this.#exports);
  }

  /** Changes after every call, so that late answers belong to none. */
  get turn(): number {
    return this.#turn;
  }

  /** Resets to the state after its start, for another call. False if it cannot, or if the result would be unreliable. */
  startOver(image: Image): boolean {
    if (this.#failure !== undefined || !image.restore(this.plan.steps, this.#exports)) return false;
    this.#turn += 1;
    this.#borders = [];
    this.#contexts = [];
    this.#quota = freshQuota(this.#limits);
    this.#transfer = freshBudget(this.#limits);
    this.#hostCalls = 0;
    this.#budget.startOver();
    this.#fuelSpent = this.#fuelOfStart;
    this.#refuel();
    return true;
  }

  border(id: number): Border {
    let border = this.#borders[id];
    if (border === undefined) {
      border = { id, handles: new HandleTable(this.#quota), mayEnter: true, mayLeave: true };
      this.#borders[id] = border;
    }
    return border;
  }

  context(index: number): AbiContext {
    return (this.#contexts[index] ??= this.#makeContext(index));
  }

  func(ref: CoreExport): CallableFunction {
    return this.#exports[ref.instance]?.[ref.name] as CallableFunction;
  }

  /** Called before anything is done for the guest. */
  leave(component: number): Border {
    if (this.#failure !== undefined) throw this.#failure.error;
    const border = this.border(component);
    if (!border.mayLeave) throw new GuestEnd('trap', 'The allocator or post-return function called out');
    return border;
  }

  countHostCall(): void {
    this.#hostCalls += 1;
    if (this.#hostCalls > this.#limits.hostCalls) throw new GuestEnd('limit', 'host_calls');
  }

  /** The first failure counts. */
  end(error: unknown): unknown {
    this.#failure ??= { error };
    return this.#failure.error;
  }

  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  /** Adds up the fuel used, gives every module the whole remainder, and returns whether there is any. */
  settleFuel(): boolean {
    for (const { counter, given } of this.#fuel) this.#fuelSpent += given - (counter.value as bigint);
    return this.#refuel() >= 0n;
  }

  /** Drops everything that the guest still owned. */
  close(): void {
    this.#turn += 1;
    for (const border of this.#borders) border?.handles.dropHostResources();
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const memory of this.#memories()) bytes += memory.buffer.byteLength;
    return bytes;
  }

  usage(): Usage {
    let memoryBytes = 0;
    for (const memory of this.#memories()) memoryBytes += this.#sizeOf(memory);
    return { fuel: this.#fuelSpent, hostCalls: this.#hostCalls, memoryBytes };
  }

  /** Whether a growth was refused because of the shared budget. */
  get isOverBudget(): boolean {
    return this.#budget.hasRefused;
  }

  /** What failed to grow, as in `ModuleFacts.growthExport`; 0 for nothing. */
  get failedGrowth(): number {
    let failed = 0;
    for (const [index, { growthExport }] of this.plan.steps.entries()) {
      const flag = growthExport === undefined ? undefined : this.#exports[index]?.[growthExport];
      failed ||= Number((flag as WebAssembly.Global | undefined)?.value ?? 0);
    }
    return failed;
  }

  /** All memories of its modules, exported or not. */
  #memories(): Set<WebAssembly.Memory> {
    const memories = new Set<WebAssembly.Memory>();
    const add = (memory: unknown): unknown => memory instanceof WebAssembly.Memory && memories.add(memory);
    for (const [at, { memoryExports }] of this.plan.steps.entries())
      for (const name of memoryExports) add(this.#exports[at]?.[name]);
    for (const { memory } of this.plan.contexts) add(memory && this.#memory(memory));
    return memories;
  }

  /** Where its module counts its pages, if it does. */
  #countOf(memory: WebAssembly.Memory): WebAssembly.Global | undefined {
    for (const [at, { pagesExport, state }] of this.plan.steps.entries()) {
      const own = this.#exports[at];
      const [name] = state?.memories ?? [];
      if (pagesExport !== undefined && name !== undefined && own?.[name] === memory)
        return own[pagesExport] as WebAssembly.Global;
    }
    return undefined;
  }

  #sizeOf(memory: WebAssembly.Memory): number {
    const pages = this.#countOf(memory);
    return pages ? Number(pages.value) * PAGE_BYTES : memory.buffer.byteLength;
  }

  #makeRoom(): void {
    const memories = this.#memories();
    const pages = Math.floor(SPARE_PAGES / memories.size);
    for (const memory of memories) growIfPossible(memory, pages);
  }

  #giveFuel(exports: WebAssembly.Exports, fuelExport: string): void {
    const counter = exports[fuelExport] as WebAssembly.Global;
    const share = this.#limits.fuel - this.#fuelSpent;
    counter.value = share;
    this.#fuel.push({ counter, given: share });
  }

  /** Gives every module the remaining budget. */
  #refuel(): bigint {
    const left = this.#limits.fuel - this.#fuelSpent;
    for (const tank of this.#fuel) {
      tank.counter.value = left;
      tank.given = left;
    }
    return left;
  }

  #importsOf(step: Step, makeTrampoline: TrampolineMaker): WebAssembly.Imports {
    const imports = Object.create(null) as WebAssembly.Imports;
    for (const { module, name, item } of step.imports) {
      const group = (imports[module] ??= Object.create(null) as Record<string, unknown>);
      group[name] = this.#item(item, makeTrampoline);
    }
    return imports;
  }

  #item(item: CoreItem, makeTrampoline: TrampolineMaker): unknown {
    if ('trampoline' in item) return makeTrampoline(this, item.trampoline);
    return this.#exports[item.instance]?.[item.name];
  }

  #makeContext(index: number): AbiContext {
    const spec = this.plan.contexts[index];
    if (spec === undefined) throw new RangeError(`There is no context ${index}`);
    const memory = spec.memory && this.#memory(spec.memory);
    return new AbiContext({
      border: this.border(spec.component),
      budget: this.#transfer,
      encoding: spec.encoding,
      memory,
      pages: memory && this.#countOf(memory),
      realloc: spec.realloc && this.func(spec.realloc),
    });
  }

  #memory(ref: CoreExport): WebAssembly.Memory | undefined {
    return this.#exports[ref.instance]?.[ref.name] as WebAssembly.Memory | undefined;
  }
}

function freshQuota({ handles }: CallLimits): HandleQuota {
  return { held: 0, limit: handles };
}

function freshBudget({ transferBytes, valueBytes }: CallLimits): TransferBudget {
  return { left: transferBytes, value: valueBytes };
}

/** A memory whose maximum is too small keeps its initial size. */
function growIfPossible(memory: WebAssembly.Memory, pages: number): void {
  try {
    memory.grow(pages);
  } catch {
    return;
  }
}
