/**
 * What an attack on Wasm cells is: a binary, what its manifest declares, and the required answers.
 *
 * @module
 */
import type { Attack } from '../runner/attack.ts';
import { GENEROUS_MS } from '../runner/patience.ts';
import type { Setting } from '../runner/setting.ts';
import { skillComponent, type SkillParts } from './component.ts';
import { builtProgram } from './programs.ts';

export interface Scene {
  setting: Setting;
  /** Port of the web server of the setting, which the attack may partly reach. 0 if there is none. */
  webPort: number;
}

export interface WasmAttack extends Attack {
  description: string;
  timeout: number;
  binary: () => Uint8Array;
  /** The binary, or the core modules of a component, for a host without a linker. */
  naive: () => Record<string, Uint8Array>;
  /** Added to a manifest that requests nothing. */
  manifest: (scene: Scene) => Record<string, unknown>;
  params: (scene: Scene) => Record<string, unknown>;
  /** Number of calls; the last one is judged. */
  calls: number;
  /** Pause between calls. */
  pauseMs: number;
  /** Number of copies of the binary next to it. */
  copies: number;
  /** Symbolic links of the workspace, by name. */
  links: (scene: Scene) => Record<string, string>;
  fifos: readonly string[];
  /** A host process replaces a directory with a link while the call holds it. */
  swap: boolean;
  web: boolean;
}

export interface Draft extends Partial<Omit<WasmAttack, 'name' | 'description'>> {
  /** The core module, if its name differs from the attack's. */
  program?: string;
  /** For components only. */
  component?: Partial<Omit<SkillParts, 'allocator' | 'main' | 'helper'>> & {
    allocator?: string;
    helper?: string;
  };
}

const DEFAULTS = {
  limits: [],
  timeout: GENEROUS_MS,
  manifest: () => ({}),
  params: () => ({}),
  links: () => ({}),
  calls: 1,
  pauseMs: 0,
  copies: 0,
  fifos: [],
  swap: false,
  web: false,
  control: { judge: 'reports' },
} as const;

type Entry = string | readonly [description: string, own: Draft];

/** Attacks that have most in common, by name. */
export function group(
  shared: Draft & Pick<WasmAttack, 'codes'>,
  entries: Readonly<Record<string, Entry>>,
): WasmAttack[] {
  return Object.entries(entries).map(([name, entry]) => {
    const [description, own] = typeof entry === 'string' ? [entry, {}] : entry;
    const { program = name, component, ...rest } = { ...shared, ...own };
    const made = component === undefined ? commandOf(program) : componentOf(program, component);
    return Object.assign({}, DEFAULTS, made, rest, { name, description });
  });
}

type Made = Pick<WasmAttack, 'binary' | 'naive'>;

function commandOf(program: string): Made {
  const binary = (): Uint8Array => builtProgram(program);
  return { binary, naive: () => ({ skill: binary() }) };
}

function componentOf(
  program: string,
  { allocator = 'allocator', helper, ...rest }: NonNullable<Draft['component']>,
): Made {
  const modules = (): Pick<SkillParts, 'main' | 'allocator' | 'helper'> => ({
    main: builtProgram(program),
    allocator: builtProgram(allocator),
    ...(helper === undefined ? {} : { helper: builtProgram(helper) }),
  });
  return { binary: () => skillComponent({ ...modules(), ...rest }), naive: () => ({ ...modules() }) };
}
