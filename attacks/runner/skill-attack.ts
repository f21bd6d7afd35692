/**
 * What an attack by a skill is: a source file, how it is called, and which answers it must get.
 *
 * @module
 */
import { join } from 'node:path';
import type { LimitName } from '../../src/for-attacks.ts';
import type { Attack, Judge, NoControl } from './attack.ts';
import { GENEROUS_MS } from './patience.ts';
import { ATTACKS_DIR } from './places.ts';

export interface Prelude {
  /** A bundle that is called first, with the same workspace. */
  dir: string;
  params: Record<string, string>;
}

export interface SkillAttack extends Attack {
  /** Its source file without the extension; some sources contain several attacks. */
  bundle: string;
  /** Replaces the description in the source. */
  description?: string;
  /** What each call adds to the params; the last call is judged. */
  calls: readonly Record<string, unknown>[];
  /** Whether the calls run concurrently. */
  together?: boolean;
  prelude?: Prelude;
  /** The manifest gets a rule for part of a web server. */
  web?: boolean;
  /** The workspace has a link to the secret. */
  link?: boolean;
  /** It acts while it is loaded, when the engine holds back its output: a twin shows that the act is reached. */
  loads?: boolean;
  /** In milliseconds. */
  timeout: number;
}

export type Rest = Partial<Omit<SkillAttack, 'name' | 'codes'>>;

export const TWICE: Rest = {
  calls: [{ call_secret: 'of the first call' }, { call_secret: 'of the second call' }],
};
/** So often that what every call leaves behind would exceed what the process may have. */
export const OFTEN: Rest = {
  calls: Array.from({ length: 8 }, () => ({})),
  control: { none: 'A separate process has no limit that other calls could exhaust.' },
};
export const HANGS: Rest = { ...shownBy('hangs'), timeout: 1000 };
export const NO_REPLY: Rest = shownBy('no-reply');
export const CHOKES_READER: Rest = shownBy('chokes-reader');

export function shownBy(judge: Judge): { control: { judge: Judge } } {
  return { control: { judge } };
}

export function notShown(none: string): { control: NoControl } {
  return { control: { none } };
}

/** The call before the attack replaces a granted directory or file with a link. */
export function afterSwapOf(swap: 'directory' | 'file'): Rest {
  return { prelude: { dir: join(ATTACKS_DIR, 'runner', 'preludes', 'swap_workspace'), params: { swap } } };
}

/** Attacks that must get the same answer. */
export function group(names: string, codes: SkillAttack['codes'], rest: Rest = {}): SkillAttack[] {
  const shared = {
    limits: [],
    calls: [{}],
    timeout: GENEROUS_MS,
    ...shownBy('reports'),
    ...rest,
    codes,
  } as const;
  return names.split(/\s+/).map((name) => Object.assign({ name, bundle: name }, shared));
}

/** Attacks that must exceed one of these limits. */
export function limited(names: string, limits: readonly LimitName[], rest: Rest = {}): SkillAttack[] {
  return group(names, ['resource_exceeded'], { limits, ...rest });
}
