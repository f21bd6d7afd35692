/**
 * The yardstick of compare-skillware.ts: Skillware's own loader in plain CPython, and what counts as the same answer.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { packageRoot, type Outcome, type Skill } from '../src/index.ts';
import { findInterpreter } from '../src/cell/python/interpreter.ts';
import { SAMPLES, type Difference } from './skillware-samples.ts';

/** What Skillware's loader imports itself. */
const LOADER_PACKAGES = ['pyyaml', 'jsonschema', 'packaging'];

export type Answer =
  | { kind: 'result'; value: unknown }
  | { kind: 'refused' }
  | { kind: 'raised'; text: string };
export type Reference = (folder: string, params: unknown, env: Record<string, string>) => Answer;

/** Its packages and those of the bundles that have samples go into a folder of their own. */
export function openReference(options: {
  checkout: string;
  temp: string;
  skills: readonly Skill[];
}): Reference {
  const { checkout, temp } = options;
  const python = findInterpreter()?.path;
  if (python === undefined) throw new Error('No system Python was found');
  const packages = join(temp, 'packages');
  const sampled = options.skills
    .map(({ bundle }) => bundle.manifest)
    .filter(({ name }) => SAMPLES[name] !== undefined)
    .flatMap(({ requirements }) => requirements);
  const wanted = [...new Set([...LOADER_PACKAGES, ...sampled])];
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--target', packages, '--'];
  execFileSync(python, [...pip, ...wanted], { cwd: temp, stdio: ['ignore', 'ignore', 'inherit'] });
  const script = join(packageRoot(), 'scripts', 'skillware-reference.py');
  return (folder, params, env) => {
    const text = execFileSync(python, ['-B', '-s', script], {
      cwd: temp,
      env: { ...env, PYTHONPATH: `${packages}:${checkout}`, HOME: temp },
      input: JSON.stringify({ folder, params }),
      encoding: 'utf8',
    });
    return JSON.parse(text) as Answer;
  };
}

export function answerOf(outcome: Outcome): Answer {
  if (outcome.ok) return { kind: 'result', value: outcome.result };
  const { code, message } = outcome.error;
  if (code === 'invalid_params') return { kind: 'refused' };
  return { kind: 'raised', text: message.replace(/^The skill raised /, '') };
}

export function isSame(ours: Answer, theirs: Answer, allowed: readonly Difference[]): boolean {
  return isDeepStrictEqual(withoutAllowed(ours, allowed), withoutAllowed(theirs, allowed));
}

function withoutAllowed(answer: Answer, allowed: readonly Difference[]): Answer {
  if (answer.kind !== 'result') return answer;
  const value: unknown = structuredClone(answer.value);
  for (const { path, how } of allowed) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce((at: unknown, key) => (isMapping(at) ? at[key] : undefined), value);
    if (!isMapping(parent) || !(last in parent)) continue;
    const found = parent[last];
    parent[last] =
      how === 'unordered' && Array.isArray(found)
        ? found.map((item) => JSON.stringify(item)).toSorted()
        : how;
  }
  return { kind: 'result', value };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
