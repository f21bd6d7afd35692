/**
 * Rewrites a core module: its memory and tables get a maximum size, and all its code pays fuel.
 *
 * @module
 */
import { GROWTH_OF, type ModuleFacts, type ModuleState } from '../contract.ts';
import type { BodyContext, BodyScan, Sizing } from '../binary/body-scan.ts';
import { scanBody } from '../binary/core-body.ts';
import { MODULE_HEADER, type CoreModule, type Section } from '../binary/core-module.ts';
import type { Limits } from '../binary/core-types.ts';
import { BinaryError, Reader } from '../binary/reader.ts';
import { CAPS } from './caps.ts';
import {
  BUDGET_TABLE,
  BUDGET_TYPE,
  NOTHING_SHARED,
  writeQuestion,
  type BudgetPlaces,
  type Shares,
} from './growth-budget.ts';
import { ownMemories, takeInventory, type StateExport } from './inventory.ts';
import { writeCountedGrowth, writeGrowthCheck } from './page-count.ts';
import { writeCharge } from './payments.ts';
import { Writer } from './writer.ts';

export interface RewriteOptions {
  /** Maximum size of a memory, in pages of 64 KiB. */
  maxPages: number;
  /** Names that the new exports must not have: everything that the file imports, exports or aliases. */
  takenNames: ReadonlySet<string>;
  /** Whether to look for the whole mutable state, so that an instance can be reset. */
  inventory?: boolean;
  /** What it shares a budget for with other modules. */
  shares?: Shares;
  /** Whether its own memory may be larger than the module sees: it then counts its pages itself. */
  countsPages?: boolean;
}

export interface RewrittenModule {
  bytes: Uint8Array;
  /** Whether it queries or changes the size of a memory, its own or that of another module. */
  sizesMemory: boolean;
  facts: ModuleFacts;
}

const SECTION = { type: 1, memory: 5, table: 4, global: 6, export: 7, start: 8, code: 10 } as const;
/** Sections whose position differs from their number: tags come after memories, the data count before the code. */
const PLACES: Readonly<Record<number, number>> = { 13: 5.5, 12: 9.5 };
const EXPORT = { function: 0, table: 1, memory: 2, global: 3 } as const;
const I32 = 0x7f;
const I64 = 0x7e;

/** `(global (mut i64) (i64.const 0))`: nothing can run before the host sets fuel. */
const FUEL_GLOBAL: Uint8Array = Uint8Array.of(I64, 1, 0x42, 0, 0x0b);
const GROWTH_GLOBAL: Uint8Array = writeCount(0);

/** What is added, and under which names. */
interface Additions {
  /** Index of the fuel global. */
  fuel: number;
  fuelExport: string;
  startExport: string | undefined;
  /** Index of the global that records a failed growth. */
  growth: number;
  growthExport: string;
  /** Index of the global that counts the pages of its memory, if it counts them itself. */
  pages: number | undefined;
  pagesExport: string;
  /** Where it asks before growing, if it shares a budget. */
  budget: BudgetPlaces | undefined;
  budgetExport: string;
  maxPages: number;
}

/** What is added once the code has been scanned. */
interface Extras {
  code: MeteredCode;
  state: readonly StateExport[] | undefined;
  memories: readonly StateExport[];
}

interface MeteredCode {
  content: Uint8Array;
  /** Whether anything in it grows a memory or table. */
  grows: boolean;
  /** Whether it queries or changes the size of a memory. */
  sizesMemory: boolean;
  changesTables: boolean;
}

export function rewriteModule(module: CoreModule, options: RewriteOptions): RewrittenModule {
  const additions: Additions = {
    fuel: module.spaces.global,
    fuelExport: freshName('fuel', options.takenNames),
    startExport: module.startFunction === undefined ? undefined : freshName('start', options.takenNames),
    growth: module.spaces.global + 1,
    growthExport: freshName('growth', options.takenNames),
    pages: options.countsPages && module.memories.length > 0 ? module.spaces.global + 2 : undefined,
    pagesExport: freshName('pages', options.takenNames),
    budget: budgetPlaces(module, options.shares ?? NOTHING_SHARED),
    budgetExport: freshName('budget', options.takenNames),
    maxPages: options.maxPages,
  };
  const code = writeCode(module, additions);
  const nameFor = (stem: string): string => freshName(stem, options.takenNames);
  const memories = options.inventory === true ? ownMemories(module, nameFor) : [];
  const state =
    options.inventory === true && !code.changesTables ? takeInventory(module, nameFor) : undefined;
  const extras = { ...additions, code, state, memories };
  const out = new Writer(Math.ceil((module.end - module.start) * 1.25) + 256);
  out.bytes(MODULE_HEADER);
  for (const section of withAddedSections(module, additions)) {
    if (section.id === SECTION.start) continue;
    const content = rewriteSection(module, section, extras);
    out.byte(section.id);
    out.u32(content.length);
    out.bytes(content);
  }
  const bytes = out.view.slice();
  const facts = factsOf(module, extras, bytes.length);
  return { bytes, sizesMemory: code.sizesMemory, facts };
}

/** A name that does not occur in the file, so that no module can be linked to the fuel of another. */
function freshName(stem: string, taken: ReadonlySet<string>): string {
  for (let index = 0; ; index++) {
    const name = `skillcell:${stem}:${index}`;
    if (!taken.has(name)) return name;
  }
}

function budgetPlaces(module: CoreModule, shares: Shares): BudgetPlaces | undefined {
  const { type, table } = module.spaces;
  return shares.memory || shares.table ? { type, table, shares } : undefined;
}

/** The sections of the module, with empty ones added where something is inserted. */
function withAddedSections(module: CoreModule, { budget }: Additions): Section[] {
  const sections = [...module.sections];
  const placeOf = (id: number): number => PLACES[id] ?? id;
  const added = budget ? [SECTION.type, SECTION.table] : [];
  for (const id of [...added, SECTION.global, SECTION.export]) {
    if (sections.some((section) => section.id === id)) continue;
    const behind = sections.findIndex((section) => placeOf(section.id) > placeOf(id));
    sections.splice(behind < 0 ? sections.length : behind, 0, { id, start: 0, end: 0 });
  }
  return sections;
}

function rewriteSection(module: CoreModule, section: Section, additions: Additions & Extras): Uint8Array {
  switch (section.id) {
    case SECTION.type:
      return appendTo(module, section, additions.budget ? [BUDGET_TYPE] : []);
    case SECTION.table:
      return writeTables(module, additions.budget);
    case SECTION.memory:
      return writeMemories(module, additions.maxPages);
    case SECTION.global:
      return appendTo(module, section, addedGlobals(module, additions));
    case SECTION.export:
      return appendTo(module, section, writeExports(module, additions));
    case SECTION.code:
      return additions.code.content;
    default:
      return module.bytes.subarray(section.start, section.end);
  }
}

function addedGlobals(module: CoreModule, { pages }: Additions): Uint8Array[] {
  const globals = [FUEL_GLOBAL, GROWTH_GLOBAL];
  if (pages !== undefined) globals.push(writeCount(module.memories[0]?.min ?? 0));
  return globals;
}

/** `(global (mut i32) (i32.const …))` */
function writeCount(initial: number): Uint8Array {
  const out = new Writer(16);
  out.bytes([I32, 1, 0x41]);
  out.signed(initial);
  out.byte(0x0b);
  return out.view;
}

function writeTables(module: CoreModule, budget: BudgetPlaces | undefined): Uint8Array {
  const out = new Writer();
  out.u32(module.tables.length + (budget ? 1 : 0));
  for (const table of module.tables) {
    out.byte(table.element);
    writeLimits(out, clamp(table.limits, CAPS.tableEntries));
  }
  if (budget) out.bytes(BUDGET_TABLE);
  return out.view;
}

function writeMemories(module: CoreModule, maxPages: number): Uint8Array {
  const out = new Writer();
  out.u32(module.memories.length);
  for (const memory of module.memories) {
    if (memory.min > maxPages) {
      const asked = `The module starts with ${memory.min} pages of memory (64 KiB each)`;
      throw new BinaryError(`${asked}, but the limit is ${maxPages}`, memory.offset);
    }
    writeLimits(out, clamp(memory, maxPages));
  }
  return out.view;
}

function clamp(limits: Limits, ceiling: number): { min: number; max: number } {
  return { min: limits.min, max: Math.min(limits.max ?? ceiling, ceiling) };
}

function writeLimits(out: Writer, limits: { min: number; max: number }): void {
  out.byte(1);
  out.u32(limits.min);
  out.u32(limits.max);
}

function writeExports(module: CoreModule, additions: Additions & Extras): Uint8Array[] {
  const { fuelExport, growthExport, startExport, pages, pagesExport, code, memories } = additions;
  const { budget, budgetExport, state = memories } = additions;
  const exports = [writeExport(fuelExport, EXPORT.global, additions.fuel)];
  if (code.grows) exports.push(writeExport(growthExport, EXPORT.global, additions.growth));
  if (pages !== undefined) exports.push(writeExport(pagesExport, EXPORT.global, pages));
  if (budget) exports.push(writeExport(budgetExport, EXPORT.table, budget.table));
  if (startExport !== undefined && module.startFunction !== undefined)
    exports.push(writeExport(startExport, EXPORT.function, module.startFunction));
  for (const { name, kind, index } of state) exports.push(writeExport(name, EXPORT[kind], index));
  return exports;
}

function writeExport(name: string, kind: number, index: number): Uint8Array {
  const out = new Writer(64);
  out.name(name);
  out.byte(kind);
  out.u32(index);
  return out.view;
}

/** A list section with items appended. */
function appendTo(module: CoreModule, section: Section, items: readonly Uint8Array[]): Uint8Array {
  const reader = new Reader(module.bytes, section.start, section.end);
  const count = reader.done ? 0 : reader.u32();
  const out = new Writer(section.end - section.start + 256);
  out.u32(count + items.length);
  out.bytes(module.bytes.subarray(reader.position, section.end));
  for (const item of items) out.bytes(item);
  return out.view;
}

function writeCode(module: CoreModule, { fuel, growth, pages, budget }: Additions): MeteredCode {
  const imported = module.functionTypes.length - module.bodies.length;
  const section = new Writer(Math.ceil((module.end - module.start) * 1.25) + 64);
  const body = new Writer(65_536);
  let grows = false;
  let sizesMemory = false;
  let changesTables = false;
  section.u32(module.bodies.length);
  for (const [index, range] of module.bodies.entries()) {
    const params = module.types[module.functionTypes[imported + index] as number]?.params.length ?? 0;
    const context: BodyContext = {
      spaces: module.spaces,
      dataSegments: module.dataCount ?? 0,
      elementSegments: module.elementSegments,
      params,
    };
    const scan = scanBody(new Reader(module.bytes, range.start, range.end), context);
    body.clear();
    writeBody({ out: body, scan, fuel, growth, pages, budget }, module.bytes, range);
    grows ||= scan.sizings.some(({ does }) => does !== 'query-memory');
    sizesMemory ||= scan.sizings.some(({ does }) => does !== 'grow-table');
    changesTables ||= scan.changesTables;
    if (body.length > CAPS.meteredBodyBytes) {
      throw new BinaryError(
        'A function has too many branches for its size and cannot be metered',
        range.start,
      );
    }
    section.u32(body.length);
    section.bytes(body.view);
  }
  return { content: section.view, grows, sizesMemory, changesTables };
}

interface BodyJob {
  out: Writer;
  scan: BodyScan;
  fuel: number;
  growth: number;
  pages: number | undefined;
  budget: BudgetPlaces | undefined;
}

function writeBody(job: BodyJob, bytes: Uint8Array, range: Section): void {
  const { out, scan } = job;
  const needsTemporary = scan.charges.some((charge) => charge.length !== undefined);
  out.u32(scan.localGroups + (needsTemporary ? 1 : 0));
  out.bytes(bytes.subarray(scan.groupsStart, scan.codeStart));
  if (needsTemporary) out.bytes([1, I32]);
  let position = scan.codeStart;
  let next = 0;
  const copyTo = (end: number): void => {
    // If a growth and a payment coincide, the growth is handled first: its result is on the stack.
    for (let sizing = scan.sizings[next]; sizing && sizing.to <= end; sizing = scan.sizings[++next]) {
      out.bytes(bytes.subarray(position, sizing.from));
      writeWithinBudget(job, sizing, bytes);
      position = sizing.to;
    }
    out.bytes(bytes.subarray(position, end));
    position = end;
  };
  for (const charge of scan.charges) {
    copyTo(charge.at);
    writeCharge(job, charge);
  }
  copyTo(range.end);
}

/** Asks before a growth and reports its result, if the budget is shared. */
function writeWithinBudget(job: BodyJob, sizing: Sizing, bytes: Uint8Array): void {
  const of = sizing.does === 'grow-table' ? 'table' : 'memory';
  const budget = sizing.does !== 'query-memory' && job.budget?.shares[of] ? job.budget : undefined;
  if (budget) writeQuestion(job.out, budget, `may-grow-${of}`);
  writeSizing(job, sizing, bytes);
  if (budget) writeQuestion(job.out, budget, `did-grow-${of}`);
}

/** Every growth has a local for lengths. */
function writeSizing({ out, scan, growth, pages }: BodyJob, sizing: Sizing, bytes: Uint8Array): void {
  const { from, to, does } = sizing;
  if (does === 'grow-memory' && pages !== undefined)
    return writeCountedGrowth(out, { pages, growth, temporary: scan.locals });
  if (does === 'query-memory' && pages !== undefined) {
    out.byte(0x23); // global.get
    return out.u32(pages);
  }
  out.bytes(bytes.subarray(from, to));
  if (does !== 'query-memory')
    writeGrowthCheck(out, {
      growth,
      temporary: scan.locals,
      of: does === 'grow-table' ? GROWTH_OF.table : GROWTH_OF.memory,
    });
}

function factsOf(module: CoreModule, additions: Additions & Extras, bytes: number): ModuleFacts {
  const { fuelExport, growthExport, startExport, pages, pagesExport, code, state, memories } = additions;
  const { budget, budgetExport } = additions;
  const flags = code.grows ? [growthExport] : [];
  return {
    bytes,
    functions: module.bodies.length,
    memories: module.memories.map((memory) => clamp(memory, additions.maxPages)),
    tables: module.tables.map((table) => clamp(table.limits, CAPS.tableEntries)),
    fuelExport,
    ...(startExport !== undefined && { startExport }),
    ...(code.grows && { growthExport }),
    ...(budget && { budgetExport }),
    ...(memories.length > 0 && { memoryExports: memories.map(({ name }) => name) }),
    ...(pages !== undefined && { pagesExport }),
    ...(state && { state: stateOf(state, pages === undefined ? flags : [...flags, pagesExport]) }),
  };
}

function stateOf(exports: readonly StateExport[], flags: readonly string[]): ModuleState {
  const namesOf = (kind: StateExport['kind']): string[] =>
    exports.filter((one) => one.kind === kind).map(({ name }) => name);
  return { memories: namesOf('memory'), globals: [...namesOf('global'), ...flags] };
}
