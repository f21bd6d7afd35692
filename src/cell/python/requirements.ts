/**
 * Third-party packages of a skill: wheels in a folder per set of requirements, made at install time, never at run time.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import type { Interpreter } from './interpreter.ts';
import { makeReadable } from './readable.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 10 * 60_000;

export interface EnvironmentOptions {
  home: string;
  interpreter: Interpreter;
  bundle: Bundle;
}

/** Folder with the installed requirements, undefined when there are none; throws when they are not installed. */
export function environmentFor(options: EnvironmentOptions): string | undefined {
  const requirements = requirementsOf(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = environmentFolder(options, requirements);
  if (existsSync(folder)) return folder;
  throw new SkillError(
    'skill_unavailable',
    `The requirements are not installed: ${requirements.join(', ')}`,
    {
      fix: `Install them once: skillcell install "${options.bundle.sourceDir}"`,
      detail: { requirements },
    },
  );
}

/**
 * What the manifest lists. Skillware itself brings PyYAML along, and its bundles use it without listing it.
 */
export function requirementsOf({ manifest, inspection }: Bundle): string[] {
  const listed = manifest.requirements;
  const usesYaml = inspection.modules.some(({ value }) => value === 'yaml' || value.startsWith('yaml.'));
  const listsYaml = listed.some((requirement) => /^pyyaml\b/i.test(requirement));
  const implied = usesYaml && !listsYaml && !manifest.declaresCapabilities ? ['pyyaml'] : [];
  return [...listed, ...implied].toSorted();
}

/** Resolves and unpacks the wheels. Wheels only: building a package would run its code. */
export async function installRequirements(options: EnvironmentOptions): Promise<string | undefined> {
  const requirements = requirementsOf(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = environmentFolder(options, requirements);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  mkdirSync(draft, { recursive: true });
  try {
    await runPip(options.interpreter, [...pipArguments(draft), ...requirements]);
    makeReadable(draft);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
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

async function runPip(interpreter: Interpreter, args: string[]): Promise<void> {
  try {
    // The operator's own environment: it says where the index is.
    await run(interpreter.path, args, { timeout: INSTALL_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    const missing = text.includes('No module named pip');
    throw new SkillError('skill_unavailable', `pip could not install the requirements: ${lastLines(text)}`, {
      fix: missing
        ? 'Install pip for the system Python: apt-get install python3-pip'
        : 'Check the requirements of the manifest. A package without a wheel for this machine cannot be used.',
      cause: error,
    });
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 500);
}
