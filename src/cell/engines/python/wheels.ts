/**
 * Installs requirements into an environment: pip resolves and downloads the wheels, we hash them, and pip installs
 * exactly these files, by hash and without an index. Only wheels are used, because building a package would run its code.
 *
 * @module
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { InstallWatch } from '../../../load/install-progress.ts';
import type { PackageEngine, PinnedPackage, PinnedPackages } from '../../../load/pins.ts';
import { publish } from '../../../load/publish.ts';
import { requirementProblem } from '../../../manifest/names.ts';
import { quote } from '../../../manifest/quote.ts';
import { makeReadable } from '../../linux/readable.ts';
import { keepIfIntact, packagesFolder, recordEnvironment, sha256Of } from './environment.ts';
import type { Interpreter } from './interpreter.ts';
import { runPip } from './pip.ts';

const WHEELS_ONLY = ['--only-binary', ':all:'];
/** Name, version, optional build number, and three tags. */
const WHEEL_FILE = /^([A-Za-z0-9][\w.]*)-([\w.+!]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl$/;

export interface WheelsOptions {
  interpreter: Interpreter;
  requirements: string[];
  /** The environment. If it exists and matches its record, nothing is done. */
  folder: string;
  /** pip options that select the Python and the platform of the wheels. */
  target: string[];
  /** Folder in which pip looks for wheels in addition to the index. */
  extraWheels?: string;
  /** Whether to compile bytecode for the interpreter that runs pip. */
  compiles: boolean;
  engine: PackageEngine;
  /** Takes exactly these files from the index, by hash, instead of resolving the requirements. */
  exactly?: PinnedPackages | undefined;
  watch?: InstallWatch | undefined;
}

export async function installWheels(options: WheelsOptions): Promise<void> {
  const { requirements, folder } = options;
  requirements.forEach(assertPlain);
  if (await keepIfIntact(folder)) return;
  await publish(folder, (draft) => makeEnvironment(options, draft), { keepsExisting: true });
}

async function makeEnvironment(options: WheelsOptions, draft: string): Promise<void> {
  const wheels = `${draft}.wheels`;
  try {
    for (const made of [wheels, packagesFolder(draft)]) mkdirSync(made, { recursive: true });
    await download(options, wheels);
    const packages = await packagesOf(wheels);
    await unpack(options, packagesFolder(draft), { wheels, packages });
    makeReadable(draft);
    await recordEnvironment(draft, packages);
  } finally {
    for (const made of [wheels, `${wheels}.txt`]) rmSync(made, { recursive: true, force: true });
  }
}

function download(options: WheelsOptions, wheels: string): Promise<void> {
  const { interpreter, requirements, target, extraWheels, exactly, engine, watch } = options;
  const links = extraWheels === undefined ? [] : ['--find-links', extraWheels];
  const args = ['download', '--progress-bar', 'off', ...WHEELS_ONLY, ...target, ...links, '--dest', wheels];
  const wanted = exactly
    ? ['--no-deps', '--require-hashes', '-r', writeList(`${wheels}.txt`, exactly.packages)]
    : ['--', ...requirements];
  return runPip({ interpreter, folder: wheels, args: [...args, ...wanted], engine, watch });
}

function writeList(file: string, packages: readonly PinnedPackage[]): string {
  const lines = packages.map(({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

interface Downloaded {
  wheels: string;
  packages: readonly PinnedPackage[];
}

/** Pip verifies each hash, so nothing else can be installed, regardless of its configuration. */
function unpack(
  { interpreter, target, compiles, engine, watch }: WheelsOptions,
  folder: string,
  { wheels, packages }: Downloaded,
): Promise<void> {
  const list = writeList(`${wheels}.txt`, packages);
  const exactly = ['--no-index', '--no-deps', '--require-hashes', '--find-links', wheels, '-r', list];
  const how = ['--target', folder, compiles ? '--compile' : '--no-compile'];
  const args = ['install', ...WHEELS_ONLY, ...target, ...how, ...exactly];
  return runPip({ interpreter, folder: wheels, args, engine, watch });
}

/** The downloaded packages, from their file names; pip has compared those with the metadata of the wheels. */
async function packagesOf(wheels: string): Promise<PinnedPackage[]> {
  const found: PinnedPackage[] = [];
  for (const file of readdirSync(wheels)) {
    const [, name, version] = WHEEL_FILE.exec(file) ?? [];
    if (name === undefined || version === undefined) throw invalidWheelName(file);
    const path = join(wheels, file);
    const sha256 = await sha256Of(path, statSync(path).size);
    found.push({ name: name.toLowerCase().replaceAll(/[._-]+/g, '-'), version, sha256 });
  }
  return found;
}

function invalidWheelName(file: string): SkillError {
  return new SkillError(
    'skill_unavailable',
    `pip downloaded ${quote(file)}, which is not a valid wheel name`,
    {
      fix: 'Require another version of the package.',
      detail: { file },
    },
  );
}

/** Defence in depth: the manifest parser rejects these too, but here they would be options of pip. */
function assertPlain(requirement: string): void {
  const problem = requirementProblem(requirement);
  if (problem === undefined) return;
  throw new SkillError('manifest_invalid', problem, {
    fix: 'List packages by name and version under "requirements", such as "requests>=2.31".',
    detail: { field: 'requirements', requirement },
  });
}
