/**
 * process.env that reports undeclared names that the skill itself reads.
 *
 * @module
 */
import { getCallSites } from 'node:util';
import { short, type Denial, type Reporter } from './denials.ts';

/** Names that libraries commonly check, so a denial would be noise. */
const OFTEN_CHECKED: ReadonlySet<string> = new Set([
  'toJSON',
  'then',
  'NODE_ENV',
  'DEBUG',
  'NO_COLOR',
  'FORCE_COLOR',
  'CI',
  'TERM',
  'TZ',
]);

interface Watch {
  reporter: Reporter;
  declared: ReadonlySet<string>;
}

/** Absent outside of a cell, where nothing is reported. */
let watch: Watch | undefined;

export function watchEnv(declared: string[], reporter: Reporter): void {
  const watching = { reporter, declared: new Set(declared) };
  watch = watching;
  process.env = new Proxy(process.env, {
    get(values, name) {
      const value = Reflect.get(values, name) as string | undefined;
      if (typeof name !== 'string') return value;
      if (value !== undefined && watching.declared.has(name)) reporter.used('env', `read ${short(name)}`);
      if (value === undefined && isUndeclared(name) && isAskedBySkill()) reporter.denied(denialOf(name));
      return value;
    },
  });
}

/** Returns the value of a variable; throws if it has none. */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value !== undefined) return value;
  if (watch && isUndeclared(name)) throw watch.reporter.denied(denialOf(name));
  throw new Error(`The variable ${name} has no value`);
}

function isUndeclared(name: string): boolean {
  return !watch?.declared.has(name) && !OFTEN_CHECKED.has(name);
}

/** Node itself reads many variables, which must not be reported. */
function isAskedBySkill(): boolean {
  // The frames of this function, of the proxy trap, and of the caller.
  const caller = getCallSites(3)[2];
  return caller !== undefined && !caller.scriptName.startsWith('node:');
}

function denialOf(name: string): Denial {
  return { capability: 'env', asked: `read ${short(name)}`, declared: 'not in env_vars' };
}
