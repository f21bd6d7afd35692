/**
 * What an attack on Wasm cells is: a binary, what its manifest declares, and what must come of it.
 *
 * @module
 */
import type { Attack, Judge } from '../runner/expectations.ts';
import type { Setting } from '../runner/setting.ts';
import { skillComponent, type SkillParts } from './component.ts';
import { builtProgram } from './programs.ts';

export interface Scene {
  setting: Setting;
  /** Of the web server of the setting, which the attack may reach in part. 0: there is none. */
  webPort: number;
}

/** How the control room tells that the attack works there, or why there is nothing to show. */
export type Control = { judge: Judge } | { none: string };

export interface WasmAttack extends Pick<Attack, 'codes' | 'limits' | 'timeout'> {
  name: string;
  description: string;
  binary: () => Uint8Array;
  /** The binary, or the core modules of a component, for a host without a linker. */
  naive: () => Record<string, Uint8Array>;
  /** Added to a manifest that asks for nothing. */
  manifest: (scene: Scene) => Record<string, unknown>;
  params: (scene: Scene) => Record<string, unknown>;
  /** How often it is called; the last call is judged. */
  calls: number;
  /** How long to wait between calls. */
  pauseMs: number;
  /** Copies of the binary beside it. */
  copies: number;
  /** Symbolic links of the workspace, by name. */
  links: (scene: Scene) => Record<string, string>;
  fifos: readonly string[];
  /** Somebody on the host replaces a directory by a link while the call holds it. */
  swap: boolean;
  web: boolean;
  /** The answer must name the byte that was refused. */
  namesByte: boolean;
  control: Control;
}

export interface Draft extends Partial<Omit<WasmAttack, 'name' | 'description'>> {
  /** The core module, if it is called otherwise than the attack. */
  program?: string;
  /** Of components only. */
  component?: Partial<Omit<SkillParts, 'allocator' | 'main' | 'helper'>> & {
    allocator?: string;
    helper?: string;
  };
}

const DEFAULTS = {
  limits: [],
  timeout: 8000,
  manifest: () => ({}),
  params: () => ({}),
  links: () => ({}),
  calls: 1,
  pauseMs: 0,
  copies: 0,
  fifos: [],
  swap: false,
  web: false,
  namesByte: false,
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
