/**
 * Third-party packages of a skill: wheels in a folder per set of requirements, made at install time, never at run time.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import { requirementsOf } from '../../load/requirements.ts';
import { requirementProblem } from '../../manifest/names.ts';
import { shellWord } from '../../manifest/quote.ts';
import type { Interpreter } from './interpreter.ts';
import { makeReadable } from '../readable.ts';

const run = promisify(execFile);
const NATIVE_CODE = /\.so(\.[\w.-]+)?$/;
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const MAX_PIP_OUTPUT = 16 * 1024 * 1024;

export interface EnvironmentOptions {
  home: string;
  interpreter: Interpreter;
  bundle: Bundle;
}

/** Folder with the installed requirements, undefined when there are none; throws when they are not installed. */
export function environmentFor(options: EnvironmentOptions): string | undefined {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = environmentFolder(options, requirements);
  if (existsSync(folder)) return folder;
  throw new SkillError(
    'skill_unavailable',
    `The requirements are not installed: ${requirements.join(', ')}`,
    {
      fix: `Install them once: skillcell install ${shellWord(options.bundle.sourceDir)}`,
      detail: { requirements },
    },
  );
}

/** How much native code the packages of an environment have: what of them is mapped and not read. */
export function nativeBytes(environment: string): number {
  return readdirSync(environment, { recursive: true, encoding: 'utf8' })
    .filter((name) => NATIVE_CODE.test(name))
    .reduce((sum, name) => sum + statSync(join(environment, name)).size, 0);
}

/** Resolves and unpacks the wheels. Wheels only: building a package would run its code. */
export async function installRequirements(options: EnvironmentOptions): Promise<string | undefined> {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = environmentFolder(options, requirements);
  // Cells see the folder read-only: without bytecode, each of them would compile the packages anew.
  await installWheels({ ...options, requirements, folder, pipOptions: ['--compile'] });
  return folder;
}

export interface WheelsOptions {
  interpreter: Interpreter;
  requirements: string[];
  /** Where they go; nothing is done when it is there already. */
  folder: string;
  /** What else pip is told, such as for which machine the wheels are. */
  pipOptions: string[];
}

export async function installWheels(options: WheelsOptions): Promise<void> {
  const { interpreter, requirements, folder, pipOptions } = options;
  if (existsSync(folder)) return;
  requirements.forEach(assertPlain);
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  mkdirSync(draft, { recursive: true });
  try {
    await runPip(interpreter, draft, [...pipArguments(draft), ...pipOptions, '--', ...requirements]);
    makeReadable(draft);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been faster with the same requirements.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The manifest parser refuses such as well; here it would steer pip, so nothing depends on the parser alone. */
function assertPlain(requirement: string): void {
  const problem = requirementProblem(requirement);
  if (problem === undefined) return;
  throw new SkillError('manifest_invalid', problem, {
    fix: 'List packages by name and version under "requirements", such as "requests>=2.31".',
    detail: { field: 'requirements', requirement },
  });
}

export function requirementsOfBundle(bundle: Bundle): string[] {
  return requirementsOf({ ...bundle, paths: Object.keys(bundle.files) });
}

function environmentFolder({ home, interpreter }: EnvironmentOptions, requirements: string[]): string {
  const key = createHash('sha256').update(
    JSON.stringify([interpreter.path, interpreter.version, requirements]),
  );
  return join(home, 'environments', key.digest('hex').slice(0, 32));
}

function pipArguments(target: string): string[] {
  return [
    ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir'],
    ...['--only-binary', ':all:', '--target', target],
  ];
}

/** Runs pip with these arguments; the last ones are requirements, behind `--`. */
export async function runPip(interpreter: Interpreter, target: string, args: string[]): Promise<void> {
  try {
    // The operator's own environment says where the index is. The folder is empty: pip takes the name of an
    // archive in its working directory for that archive.
    await run(interpreter.path, args, {
      cwd: target,
      timeout: INSTALL_TIMEOUT_MS,
      maxBuffer: MAX_PIP_OUTPUT,
    });
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new SkillError('skill_unavailable', `pip could not install the requirements: ${lastLines(text)}`, {
      fix: text.includes('No module named pip')
        ? 'Install pip for the system Python: apt-get install python3-pip'
        : 'Check the requirements of the manifest. A package without a wheel for this machine cannot be used.',
      detail: { requirements: args.slice(args.indexOf('--') + 1) },
      cause: error,
    });
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 500);
}
