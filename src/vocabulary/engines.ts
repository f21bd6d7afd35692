/**
 * The engines, which run a skill's code inside a wall, and their modes.
 *
 * @module
 */
import type { Kind } from './kinds.ts';
import type { Mode } from './modes.ts';
import { choicesIn, type Choices } from './table.ts';

export interface EngineRow {
  /** `src/cell/machine.ts` must have an implementation for each. */
  modes: readonly Mode[];
  /** The kinds of skill that it runs. */
  kinds: readonly Kind[];
  /** Its cells have scratch space in /tmp. */
  scratch: boolean;
  meaning: string;
}

export const ENGINES = {
  component: { modes: ['wasm'], kinds: ['function'], scratch: false, meaning: 'WebAssembly components' },
  'python-wasm': {
    modes: ['wasm'],
    kinds: ['function', 'script'],
    scratch: true,
    meaning: 'Python source in WebAssembly',
  },
  'js-wasm': {
    modes: ['wasm'],
    kinds: ['function'],
    scratch: false,
    meaning: 'JavaScript and TypeScript source in WebAssembly',
  },
  python: {
    modes: ['subprocess', 'container'],
    kinds: ['function'],
    scratch: true,
    meaning: 'the Python of the system or image',
  },
  node: { modes: ['subprocess', 'in_process'], kinds: ['function'], scratch: true, meaning: 'Node' },
  exec: {
    modes: ['container'],
    kinds: ['function'],
    scratch: true,
    meaning: 'a program in an image: JSON in, JSON out',
  },
  script: {
    modes: ['subprocess', 'container'],
    kinds: ['script'],
    scratch: true,
    meaning: 'commands of an Agent Skills folder: Python, shell and Node scripts',
  },
} as const;

export type EngineName = keyof typeof ENGINES;
/** The modes that an engine runs in. */
export type ModeOf<Name extends EngineName> = (typeof ENGINES)[Name]['modes'][number];

/** With one row type, for lookups by name. */
export const ENGINE_ROWS: Readonly<Record<EngineName, EngineRow>> = ENGINES;

export const ENGINE_NAMES: Choices<EngineName> = choicesIn(ENGINES);
