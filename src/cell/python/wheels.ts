/**
 * From requirements to an environment: pip resolves and downloads, the wheels are hashed, and pip then installs these very
 * files, by their hashes and without an index. Wheels only: building a package would run its code.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SkillError } from '../../errors.ts';
import type { PinnedPackage } from '../../load/pins.ts';
import { requirementProblem } from '../../manifest/names.ts';
import { quote } from '../../manifest/quote.ts';
import { makeReadable } from '../readable.ts';
import { isWholeOrGone, packagesFolder, recordEnvironment, sha256Of } from './environment.ts';
import type { Interpreter } from './interpreter.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const MAX_PIP_OUTPUT = 16 * 1024 * 1024;
const QUIET = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir'];
const WHEELS_ONLY = ['--only-binary', ':all:'];
/** Name, version, perhaps a build number, and three tags. */
const WHEEL_FILE = /^([A-Za-z0-9][\w.]*)-([\w.+!]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl$/;

export interface WheelsOptions {
  interpreter: Interpreter;
  requirements: string[];
  /** The environment; nothing is done when it is there already, as it was recorded. */
  folder: string;
  /** For which Python and machine the wheels are. */
  target: string[];
  /** Where pip looks for wheels besides the index. */
  extraWheels?: string;
  /** Whether bytecode is made for the interpreter that runs pip. */
  compiles: boolean;
}

export async function installWheels(options: WheelsOptions): Promise<void> {
  const { requirements, folder } = options;
  requirements.forEach(assertPlain);
  if (await isWholeOrGone(folder)) return;
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  const wheels = `${draft}.wheels`;
  try {
    for (const made of [wheels, packagesFolder(draft)]) mkdirSync(made, { recursive: true });
    await download(options, wheels);
    const packages = await packagesOf(wheels);
    await unpack(options, packagesFolder(draft), { wheels, packages });
    makeReadable(draft);
    await recordEnvironment(draft, packages);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been faster with the same requirements.
    if (!existsSync(folder)) throw error;
  } finally {
    for (const made of [draft, wheels]) rmSync(made, { recursive: true, force: true });
  }
}

function download(
  { interpreter, requirements, target, extraWheels }: WheelsOptions,
  wheels: string,
): Promise<void> {
  const links = extraWheels === undefined ? [] : ['--find-links', extraWheels];
  const args = ['download', ...QUIET, ...WHEELS_ONLY, ...target, ...links, '--dest', wheels];
  return runPip(interpreter, wheels, [...args, '--', ...requirements]);
}

interface Downloaded {
  wheels: string;
  packages: readonly PinnedPackage[];
}

/** Pip compares each hash itself, so nothing else can be installed, whatever its configuration says. */
function unpack(
  { interpreter, target, compiles }: WheelsOptions,
  folder: string,
  { wheels, packages }: Downloaded,
): Promise<void> {
  const lines = packages.map(({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`);
  const list = join(wheels, 'resolved.txt');
  writeFileSync(list, lines.join(''));
  const exactly = ['--no-index', '--no-deps', '--require-hashes', '--find-links', wheels, '-r', list];
  const how = ['--target', folder, compiles ? '--compile' : '--no-compile'];
  return runPip(interpreter, wheels, ['install', ...QUIET, ...WHEELS_ONLY, ...target, ...how, ...exactly]);
}

/** What pip downloaded, by the names of the files, which pip has compared with what is in them. */
async function packagesOf(wheels: string): Promise<PinnedPackage[]> {
  const found: PinnedPackage[] = [];
  for (const file of readdirSync(wheels)) {
    const [, name, version] = WHEEL_FILE.exec(file) ?? [];
    if (name === undefined || version === undefined) throw noWheel(file);
    const path = join(wheels, file);
    const sha256 = await sha256Of(path, statSync(path).size);
    found.push({ name: name.toLowerCase().replaceAll(/[._-]+/g, '-'), version, sha256 });
  }
  return found;
}

function noWheel(file: string): SkillError {
  return new SkillError(
    'skill_unavailable',
    `pip downloaded ${quote(file)}, which is not the name of a wheel`,
    {
      fix: 'Require another version of the package, whose wheel has a regular name.',
      detail: { file },
    },
  );
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

/** Runs pip in a folder; what follows `--` are requirements. */
export async function runPip(interpreter: Interpreter, folder: string, args: string[]): Promise<void> {
  try {
    // The operator's own environment says where the index is. The folder holds nothing that pip could take for a requirement.
    await run(interpreter.path, ['-m', 'pip', ...args], {
      cwd: folder,
      timeout: INSTALL_TIMEOUT_MS,
      maxBuffer: MAX_PIP_OUTPUT,
    });
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new SkillError('skill_unavailable', `pip could not install the requirements: ${lastLines(text)}`, {
      fix: text.includes('No module named pip')
        ? 'Install pip for the system Python: apt-get install python3-pip'
        : 'Check the requirements of the manifest. A package without a wheel for this machine cannot be used.',
      detail: { requirements: args.includes('--') ? args.slice(args.indexOf('--') + 1) : [] },
      cause: error,
    });
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 500);
}
