/**
 * `skillcell:env` and process.env: the granted variables; reads of other names are reported to the host.
 *
 * @module
 */
import { CapabilityDenied, note, type Denial } from './denials.ts';
import { init } from './host.ts';

const declared: ReadonlySet<string> = new Set(init.declaredEnv);
/** Names that libraries and engines read in passing. */
const UNREMARKABLE: ReadonlySet<string> = new Set([
  'toJSON',
  'then',
  'NODE_ENV',
  'DEBUG',
  'NO_COLOR',
  'FORCE_COLOR',
]);

/** Undefined if there is no value. */
export const env: Record<string, string | undefined> = new Proxy<Record<string, string>>(
  { ...init.env },
  {
    get(values, name) {
      if (typeof name !== 'string') return undefined;
      if (Object.hasOwn(values, name)) {
        if (init.observe && declared.has(name)) note('used', denialOf(name, 'granted'));
        return values[name];
      }
      if (!declared.has(name) && !UNREMARKABLE.has(name) && !(name in values))
        note('denied', denialOf(name, 'not in env_vars'));
      return undefined;
    },
  },
);

/** The value of a variable that the skill requires. */
export function requireEnv(name: string): string {
  const value = env[name];
  if (value !== undefined) return value;
  if (!declared.has(name)) throw new CapabilityDenied(denialOf(name, 'not in env_vars'));
  throw new Error(`The variable ${name} has no value`);
}

function denialOf(name: string, how: string): Denial {
  return { capability: 'env', asked: `read ${name}`, declared: how };
}
