/**
 * The reference of compare-skillware.ts: the answer of Skillware's own loader in plain CPython to a sample, as a case for
 * `study`.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot, type SkillCase } from '../src/inside.ts';
import { findInterpreter } from '../src/cell/engines/python/interpreter.ts';
import type { SkillSamples } from './skillware-samples.ts';

/** Packages that Skillware's loader itself imports. */
const LOADER_PACKAGES = ['pyyaml', 'jsonschema', 'packaging'];

/** As printed by skillware-reference.py. */
type ReferenceAnswer =
  | { kind: 'result'; value: unknown }
  | { kind: 'refused' }
  | { kind: 'raised'; text: string };

export interface ReferenceOptions {
  checkout: string;
  temp: string;
  /** Requirements of the bundles that have samples. */
  requirements: readonly string[];
}

export type Reference = (folder: string, samples: SkillSamples) => SkillCase[];

/** Its packages are installed in a separate folder. */
export function openReference({ checkout, temp, requirements }: ReferenceOptions): Reference {
  const python = findInterpreter()?.path;
  if (python === undefined) throw new Error('No system Python was found');
  const packages = join(temp, 'packages');
  const wanted = [...new Set([...LOADER_PACKAGES, ...requirements])];
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--target', packages, '--'];
  execFileSync(python, [...pip, ...wanted], { cwd: temp, stdio: ['ignore', 'ignore', 'inherit'] });
  const script = join(packageRoot(), 'scripts', 'skillware-reference.py');
  return (folder, { params, env = {}, ignore = {}, unordered = {} }) =>
    params.map((one) => {
      const text = execFileSync(python, ['-B', '-s', script], {
        cwd: temp,
        env: { ...env, PYTHONPATH: `${packages}:${checkout}`, HOME: temp },
        input: JSON.stringify({ folder, params: one }),
        encoding: 'utf8',
      });
      const may = { env, ignore: Object.keys(ignore), unordered: Object.keys(unordered) };
      return { params: one, ...expectation(JSON.parse(text) as ReferenceAnswer), ...may };
    });
}

function expectation(answer: ReferenceAnswer): Pick<SkillCase, 'result' | 'error' | 'message'> {
  if (answer.kind === 'result') return { result: answer.value };
  return answer.kind === 'refused'
    ? { error: 'invalid_params' }
    : { error: 'skill_error', message: answer.text };
}
