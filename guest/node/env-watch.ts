/**
 * process.env that tells which undeclared names the skill itself asked for.
 *
 * @module
 */
import { getCallSites } from 'node:util';
import { short, type Denial, type Reporter } from './denials.ts';

/** Names that code looks at by the way. */
const UNREMARKABLE: ReadonlySet<string> = new Set([
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

/** Absent outside of a cell, where nobody watches. */
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

/** The value of a variable that the skill cannot do without. */
export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value !== undefined) return value;
  if (watch && isUndeclared(name)) throw watch.reporter.denied(denialOf(name));
  throw new Error(`The variable ${name} has no value`);
}

function isUndeclared(name: string): boolean {
  return !watch?.declared.has(name) && !UNREMARKABLE.has(name);
}

/** Node looks at many variables itself. */
function isAskedBySkill(): boolean {
  // Its own frame, that of the trap, and whoever asked.
  const asking = getCallSites(3)[2];
  return asking !== undefined && !asking.scriptName.startsWith('node:');
}

function denialOf(name: string): Denial {
  return { capability: 'env', asked: `read ${short(name)}`, declared: 'not in env_vars' };
}
