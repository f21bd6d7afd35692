/**
 * The columns of the table: every way to run a skill, and the language that it takes. A new engine is one more row here,
 * and a new language one more function.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineName, Mode, WallName } from '../../src/outcome.ts';
import type { RuntimeOptions } from '../../src/runtime.ts';
import type { Op } from './acts.ts';
import { componentFor } from './components.ts';

/** The act in one language, or why it has no such act. */
export type Program =
  | { entry: string; content: string | Uint8Array; params: Record<string, unknown> }
  | { none: string };

export interface Column {
  title: string;
  mode: Mode;
  engine: EngineName;
  wall: WallName;
  /** Of the runtime, so that it has just this wall. */
  options: RuntimeOptions;
  program: (op: Op) => Program;
}

const SOURCE = readFileSync(join(import.meta.dirname, 'skill.py'), 'utf8');
const WITHOUT_JAIL: RuntimeOptions = { jail: { bwrap: '/nonexistent' } };

function pythonFor(op: Op): Program {
  return { entry: 'skill.py', content: SOURCE, params: { ...op } };
}

/** Its interpreter has no threads: the first one fails, and no limit is there to be exceeded. */
function pythonWasmFor(op: Op): Program {
  return op.op === 'threads' ? { none: 'Python in Wasm has neither threads nor processes' } : pythonFor(op);
}

const python = { engine: 'python', mode: 'subprocess', program: pythonFor } as const;
const pythonWasm = { engine: 'python-wasm', mode: 'wasm', program: pythonWasmFor } as const;
const component = { engine: 'component', mode: 'wasm', program: componentFor } as const;

export const COLUMNS: readonly Column[] = [
  { title: 'python, jail', wall: 'jail', options: {}, ...python },
  { title: 'python-wasm, jail', wall: 'jail', options: {}, ...pythonWasm },
  { title: 'python-wasm, process', wall: 'process', options: WITHOUT_JAIL, ...pythonWasm },
  { title: 'component, jail', wall: 'jail', options: {}, ...component },
  { title: 'component, process', wall: 'process', options: WITHOUT_JAIL, ...component },
];
