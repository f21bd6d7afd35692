/**
 * Turns an untrusted binary into what a cell runs: a plan, and core modules that are clamped and metered.
 *
 * @module
 */
import type { Component, Definition, Plan, TypeDef } from '../contract.ts';
import { parseComponent } from '../binary/component.ts';
import { parseCoreModule, type CoreModule } from '../binary/core-module.ts';
import { BinaryError, Reader } from '../binary/reader.ts';
import { CAPS } from './caps.ts';
import { commandEntry, componentEntry } from './entry.ts';
import { NOTHING_SHARED } from './growth-budget.ts';
import { rewriteModule, type RewrittenModule, type RewriteOptions } from './rewrite.ts';

const SKILL_HOST = /^skillcell:skill\/host(?:@|$)/u;

export interface InstallOptions {
  /** Maximum size of a memory, in pages of 64 KiB. */
  maxPages: number;
}

export interface Installation {
  plan: Plan;
  /** By the number in `core-module` definitions of the plan. */
  modules: Uint8Array[];
}

/** Throws BinaryError for every binary that cannot run. */
export function install(bytes: Uint8Array, options: InstallOptions): Installation {
  if (bytes.length > CAPS.fileBytes)
    throw new BinaryError(`The file is larger than ${CAPS.fileBytes} bytes`, 0);
  if (bytes.length < 8) throw new BinaryError('The file is too short to be WebAssembly', bytes.length);
  // Bytes 6 and 7 distinguish components (layer 1) from core modules (layer 0).
  return bytes[6] === 1 ? installComponent(bytes, options) : installCommand(bytes, options);
}

function installComponent(bytes: Uint8Array, options: InstallOptions): Installation {
  const parsed = parseComponent(new Reader(bytes));
  const entry = componentEntry(parsed);
  const { pages, memories, tables } = parsed.weight;
  if (pages > options.maxPages) {
    const asked = `The modules of the component start with ${pages} pages of memory (64 KiB each)`;
    throw new BinaryError(`${asked}, but the limit is ${options.maxPages}`, 0);
  }
  const rewritten = rewriteAll(parsed.modules, {
    ...options,
    linkNames: parsed.coreNames,
    inventory: true,
    // A single memory and a single table have their own ceilings.
    shares: { memory: memories > 1, table: tables > 1 },
  });
  return {
    plan: {
      version: 1,
      format: 'component',
      ...entry,
      component: parsed.component,
      modules: rewritten.map((module) => module.facts),
      imports: importedNames(parsed.component),
    },
    modules: rewritten.map((module) => module.bytes),
  };
}

function installCommand(bytes: Uint8Array, options: InstallOptions): Installation {
  const module = parseCoreModule(new Reader(bytes));
  const entry = commandEntry(module);
  const rewritten = rewriteAll([module], { ...options, linkNames: new Set() });
  const imports = new Set(module.imports.map((item) => `${item.module}.${item.name}`));
  return {
    plan: {
      version: 1,
      format: 'command',
      ...entry,
      modules: rewritten.map((item) => item.facts),
      imports: [...imports].sort(),
    },
    modules: rewritten.map((item) => item.bytes),
  };
}

/**
 * Interfaces. For our own, whose functions differ in power, also the functions used: `…/host#fetch` is
 * network, `…/host#log` is nothing.
 */
function importedNames(component: Component): string[] {
  const names = new Set<string>();
  const types: (TypeDef | undefined)[] = [];
  for (const item of component.definitions) {
    if (addsType(item)) types.push(item.kind === 'type' ? item.type : undefined);
    if (item.kind !== 'import') continue;
    names.add(item.name);
    const type = item.desc.kind === 'instance' ? types[item.desc.type] : undefined;
    if (!SKILL_HOST.test(item.name) || type?.kind !== 'instance') continue;
    for (const declared of type.declarations) {
      if (declared.kind === 'export' && declared.desc.kind === 'func')
        names.add(`${item.name}#${declared.name}`);
    }
  }
  return [...names].sort();
}

/** Whether a definition takes a place in the index space of types. */
function addsType(item: Definition): boolean {
  switch (item.kind) {
    case 'type':
      return true;
    case 'alias':
    case 'export':
      return item.sort === 'type';
    case 'import':
      return item.desc.kind === 'type';
    default:
      return false;
  }
}

/** All core modules of one file. */
export function rewriteAll(
  modules: readonly CoreModule[],
  options: InstallOptions & Pick<RewriteOptions, 'inventory' | 'shares'> & { linkNames: ReadonlySet<string> },
): RewrittenModule[] {
  const takenNames = new Set(options.linkNames);
  for (const module of modules) {
    for (const item of module.imports) takenNames.add(item.name);
    for (const item of module.exports) takenNames.add(item.name);
  }
  const { maxPages, inventory = false, shares = NOTHING_SHARED } = options;
  const rewrite = (module: CoreModule, countsPages: boolean): RewrittenModule => {
    const rewritten = rewriteModule(module, { maxPages, takenNames, inventory, countsPages, shares });
    if (!WebAssembly.validate(rewritten.bytes)) throw invalidity(module);
    return rewritten;
  };
  const guests = new Map(modules.filter(usesForeignMemory).map((module) => [module, rewrite(module, false)]));
  // A module that sizes another module's memory does not know the count that is kept there.
  const countsPages = inventory && ![...guests.values()].some(({ sizesMemory }) => sizesMemory);
  return modules.map((module) => guests.get(module) ?? rewrite(module, countsPages));
}

function usesForeignMemory({ spaces, memories }: CoreModule): boolean {
  return spaces.memory > memories.length;
}

/** Asks the engine why it rejects a module; its offsets count from the module's start. */
function invalidity(module: CoreModule): BinaryError {
  try {
    // oxlint-disable-next-line no-new -- only the reason for its failure matters
    new WebAssembly.Module(module.bytes.slice(module.start, module.end));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = Number(/@\+(\d+)/u.exec(message)?.[1] ?? 0);
    return new BinaryError(`A core module is not valid: ${message}`, module.start + offset);
  }
  return new BinaryError('A core module cannot be metered', module.start);
}
