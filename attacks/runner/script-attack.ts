/**
 * What an attack by a script in Wasm is: a skill, how it is called, and what must come of it.
 *
 * @module
 */
import type { LimitName } from '../../src/errors.ts';
import type { Control } from '../wasm/attack.ts';
import type { Attack } from './expectations.ts';

export interface ScriptAttack extends Pick<Attack, 'name' | 'codes' | 'limits' | 'timeout' | 'failsWith'> {
  /** Folder of the skill; some skills are several attacks. */
  bundle: string;
  /** What the skill tells about itself, if that is not enough. */
  description?: string;
  /** What each call adds to the params; the last call is judged. */
  calls: readonly Record<string, unknown>[];
  /** The manifest gets a rule for a part of a web server. */
  web: boolean;
  /** The workspace has a link to the secret. */
  link: boolean;
  /** It acts while it is loaded, when the engine keeps what it prints: a twin shows that the act is reached. */
  loads?: boolean;
  control: Control;
}

export type Rest = Partial<Omit<ScriptAttack, 'name' | 'codes'>>;

export const TWICE: Rest = {
  calls: [{ call_secret: 'of the first call' }, { call_secret: 'of the second call' }],
};
/** So often that what every call leaves behind would be more than the process may have. */
export const OFTEN: Rest = {
  calls: Array.from({ length: 8 }, () => ({})),
  control: { none: 'A process of its own has no limit that other calls could use up.' },
};
export const NO_REPLY: Control = { judge: 'no-reply' };
export const HANGS: Rest = { control: { judge: 'hangs' }, timeout: 1000 };

export function group(names: string, codes: ScriptAttack['codes'], rest: Rest = {}): ScriptAttack[] {
  const shared = {
    limits: [],
    calls: [{}],
    timeout: 8000,
    web: false,
    link: false,
    control: { judge: 'reports' },
    ...rest,
    codes,
  } as const;
  return names.split(/\s+/).map((name) => Object.assign({ name, bundle: name }, shared));
}

export function limited(names: string, limits: readonly LimitName[], rest: Rest = {}): ScriptAttack[] {
  return group(names, ['resource_exceeded'], { limits, ...rest });
}
