/**
 * Third-party packages of a skill: one environment per set of requirements, created at install time, never at run time.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { InstallHow } from '../../../load/install-progress.ts';
import type { PackageEngine } from '../../../load/pins.ts';
import { shellWord } from '../../../manifest/quote.ts';
import { matchesRecord, packagesFolder, recordedPackages } from './environment.ts';
import type { Interpreter } from './interpreter.ts';
import {
  assertPinned,
  findEnvironment,
  folderOf,
  installCommand,
  keepOnlyPinned,
  planInstall,
  requirementsOfBundle,
  type PackageTarget,
} from './pinned-environment.ts';
import { installWheels } from './wheels.ts';

const NATIVE_CODE = /\.so(\.[\w.-]+)?$/;

export interface EnvironmentOptions {
  home: string;
  interpreter: Interpreter;
  bundle: Bundle;
}

/** Wheels depend on the version of Python, the system and the processor. */
export function nativeTarget({ path, version }: Interpreter): PackageTarget {
  return { name: `python-${version}-${process.platform}-${process.arch}`, seed: [path, version] };
}

/** Returns the folder with the installed requirements, undefined if there are none; throws if they are not installed. */
export function environmentFor({ home, interpreter, bundle }: EnvironmentOptions): string | undefined {
  const found = findEnvironment({ home, bundle, target: nativeTarget(interpreter) });
  assertPinned(bundle, found);
  if (found.kind === 'found') return packagesFolder(found.environment);
  if (found.kind !== 'absent') return undefined;
  const requirements = requirementsOfBundle(bundle);
  throw new SkillError(
    'skill_unavailable',
    `The requirements are not installed: ${requirements.join(', ')}`,
    {
      fix: `Install them: ${installCommand(bundle)}`,
      detail: { requirements },
    },
  );
}

/** Throws `manifest_drift` unless the packages in this folder are the ones that were installed and admitted. */
export async function assertAsInstalled(
  folder: string,
  { bundle, engine }: { bundle: Bundle; engine: PackageEngine },
): Promise<{ packages: string }> {
  const environment = join(folder, '..');
  const here = recordedPackages(environment)?.digest;
  const admitted = bundle.pins ? bundle.pins.packages?.[engine]?.digest : here;
  if (here !== undefined && here === admitted && (await matchesRecord(environment)))
    return { packages: here };
  throw new SkillError(
    'manifest_drift',
    `The packages of "${bundle.manifest.name}" were changed after their installation`,
    {
      fix: `Find out what changed ${shellWord(folder)}, then install them again: ${installCommand(bundle)}`,
      detail: { folder, requirements: requirementsOfBundle(bundle) },
    },
  );
}

/** Total size of the native libraries in an environment, which are mapped instead of read. */
export function nativeBytes(environment: string): number {
  return readdirSync(environment, { recursive: true, encoding: 'utf8' })
    .filter((name) => NATIVE_CODE.test(name))
    .reduce((sum, name) => sum + statSync(join(environment, name)).size, 0);
}

/** Creates the environment unless it exists, and returns its folder. */
export async function installEnvironment(
  { home, interpreter, bundle }: EnvironmentOptions,
  how: InstallHow = {},
): Promise<string | undefined> {
  const plan = planInstall({ home, bundle, target: nativeTarget(interpreter) }, how);
  if (!plan) return undefined;
  const { folder, pins } = plan;
  await installWheels({
    interpreter,
    requirements: requirementsOfBundle(bundle),
    folder,
    target: [],
    // The folder is read-only in cells, so without bytecode each cell would compile the packages again.
    compiles: true,
    engine: 'python',
    exactly: pins,
    watch: how,
  });
  if (pins) await keepOnlyPinned(folder, pins, bundle);
  return folder;
}

/** Creates the environment unless it exists, and returns the folder of its packages. */
export async function installRequirements(options: EnvironmentOptions): Promise<string | undefined> {
  const folder = await installEnvironment(options);
  return folder === undefined ? undefined : packagesFolder(folder);
}

/** Path of the environment for these requirements, whether it exists or not. */
export function environmentOf(
  { home, interpreter }: Pick<EnvironmentOptions, 'home' | 'interpreter'>,
  requirements: string[],
): string {
  return folderOf({ home, target: nativeTarget(interpreter) }, requirements);
}
