/**
 * What a library may use of the engine: its functions and variables by name, except those that change something other
 * than the memory, and those that exchange data with JavaScript.
 *
 * @module
 */
import type { CoreExport } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';
import { plainArity } from '../engine/trampoline.ts';
import { OPCODE, readBody } from './instructions.ts';
import type { Shape } from './shape.ts';

const EXTERNREF = 0x6f;

/** `exit` is JavaScript in this engine. Its side effects make no difference to a cell, which ends. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['exit', '_Exit']]);

/** The engine's export name for a name that libraries use. */
export function engineName(name: string): string {
  return OTHER_NAMES.get(name) ?? name;
}

export interface EngineSymbols {
  /** Index of the function. */
  functions: Map<string, number>;
  /** Address of the variable. */
  variables: Map<string, number>;
  tags: Set<string>;
  /** Slot of a function, if it is in the table. */
  slots: Map<number, number>;
  /** For the trampoline: the number of parameters of the function in each slot. */
  arities: number[];
  arity: (index: number) => number;
  tableSlots: number;
}

export function engineSymbols(shape: Shape): EngineSymbols {
  const { exports, imports, tables } = shape.module;
  const importedFunctions = imports.filter(({ kind }) => kind === 'func').length;
  const denied = functionsWithEffects(shape, importedFunctions);
  const allowed = exports.filter(
    (one) => one.kind === 'func' && one.index >= importedFunctions && !denied.has(one.index),
  );
  const table = tableOf(shape);
  return {
    functions: new Map(
      allowed.filter(({ index }) => !usesReferences(shape, index)).map((one) => [one.name, one.index]),
    ),
    variables: new Map(exports.flatMap((one) => variable(shape, one))),
    tags: new Set(exports.filter(({ kind }) => kind === 'tag').map(({ name }) => name)),
    // A function can have several slots, because equal functions are merged; like Emscripten's loader, use the last.
    slots: new Map(table.map(([slot, index]) => [index, slot])),
    arities: table.reduce<number[]>((all, [slot, index]) => ((all[slot] = arityOf(shape, index)), all), []),
    arity: (index) => arityOf(shape, index),
    tableSlots: tables[0]?.limits.min ?? 0,
  };
}

/** For the trampoline. */
export function arityOf({ module }: Shape, index: number): number {
  const type = module.types[module.functionTypes[index] ?? -1];
  return plainArity(type?.params ?? [], type?.results ?? []);
}

function usesReferences({ module }: Shape, index: number): boolean {
  const type = module.types[module.functionTypes[index] ?? -1];
  return !type || [...type.params, ...type.results].includes(EXTERNREF);
}

/** Slot and function of every table entry of the module. */
function tableOf({ elements }: Shape): [number, number][] {
  return elements.flatMap(({ place, functions }) =>
    functions.map((index, at): [number, number] => [place.offset + at, index]),
  );
}

function variable({ module, globals }: Shape, { name, kind, index }: CoreExport): [string, number][] {
  if (kind !== 'global') return [];
  const imported = module.imports.filter((one) => one.kind === 'global').length;
  const global = globals[index - imported];
  return global?.start && !global.isMutable ? [[name, global.start.offset]] : [];
}

/** Functions that set a global other than the stack pointer, and everything that calls one of them. */
function functionsWithEffects(shape: Shape, importedFunctions: number): Set<number> {
  const { bytes, bodies, exports } = shape.module;
  const stack = exports.find(({ name }) => name === '__stack_pointer')?.index;
  const callers = new Map<number, Set<number>>();
  const found = new Set<number>();
  for (const [at, { start, end }] of bodies.entries()) {
    const self = importedFunctions + at;
    readBody(new Reader(bytes, start, end), ({ opcode, first }) => {
      if (opcode === OPCODE.globalSet && first !== stack) found.add(self);
      if (opcode === OPCODE.call || opcode === OPCODE.tailCall)
        callers.set(first, (callers.get(first) ?? new Set()).add(self));
    });
  }
  // Iterating a set also visits members added during the iteration.
  for (const index of found) for (const caller of callers.get(index) ?? []) found.add(caller);
  return found;
}
