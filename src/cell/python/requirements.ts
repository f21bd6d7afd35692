/**
 * Third-party packages of a skill: one environment per set of requirements, made at install time, never at run time.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import type { PackageEngine, PinnedPackages } from '../../load/pins.ts';
import { requirementsOf } from '../../load/requirements.ts';
import { shellWord } from '../../manifest/quote.ts';
import { isAsRecorded, packagesFolder, recordedPackages } from './environment.ts';
import type { Interpreter } from './interpreter.ts';
import { installWheels } from './wheels.ts';

const NATIVE_CODE = /\.so(\.[\w.-]+)?$/;

export interface EnvironmentOptions {
  home: string;
  interpreter: Interpreter;
  bundle: Bundle;
}

/** Folder with the installed requirements, undefined when there are none; throws when they are not installed. */
export function environmentFor(options: EnvironmentOptions): string | undefined {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const environment = environmentOf(options, requirements);
  if (recordedPackages(environment)) return packagesFolder(environment);
  throw new SkillError(
    'skill_unavailable',
    `The requirements are not installed: ${requirements.join(', ')}`,
    {
      fix: `Install them once: ${installCommand(options.bundle)}`,
      detail: { requirements },
    },
  );
}

/** What the requirements were resolved to; undefined when there are none, or they are not installed. */
export function packagesFor(options: EnvironmentOptions): PinnedPackages | undefined {
  const requirements = requirementsOfBundle(options.bundle);
  return requirements.length === 0 ? undefined : recordedPackages(environmentOf(options, requirements));
}

/** Throws `manifest_drift` unless the packages in this folder are those that were installed, and that were admitted. */
export async function assertAsInstalled(
  folder: string,
  { bundle, engine }: { bundle: Bundle; engine: PackageEngine },
): Promise<{ packages: string }> {
  const environment = join(folder, '..');
  const here = recordedPackages(environment)?.digest;
  const admitted = bundle.pins ? bundle.pins.packages?.[engine]?.digest : here;
  if (here !== undefined && here === admitted && (await isAsRecorded(environment))) return { packages: here };
  throw new SkillError(
    'manifest_drift',
    `The packages of "${bundle.manifest.name}" are not those that were installed`,
    {
      fix: `Look for who changed ${shellWord(folder)}. Then install them again: ${installCommand(bundle)}`,
      detail: { folder, requirements: requirementsOfBundle(bundle) },
    },
  );
}

/** How much native code the packages of an environment have: what of them is mapped and not read. */
export function nativeBytes(environment: string): number {
  return readdirSync(environment, { recursive: true, encoding: 'utf8' })
    .filter((name) => NATIVE_CODE.test(name))
    .reduce((sum, name) => sum + statSync(join(environment, name)).size, 0);
}

/** Makes the environment unless it is there, and returns the folder of its packages. */
export async function installRequirements(options: EnvironmentOptions): Promise<string | undefined> {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = environmentOf(options, requirements);
  // Cells see the folder read-only: without bytecode, each of them would compile the packages anew.
  await installWheels({ ...options, requirements, folder, target: [], compiles: true });
  return packagesFolder(folder);
}

export function requirementsOfBundle(bundle: Bundle): string[] {
  return requirementsOf({ ...bundle, paths: Object.keys(bundle.files) });
}

export function installCommand({ sourceDir }: Bundle): string {
  return `skillcell install ${shellWord(sourceDir)}`;
}

/** Where the environment of these requirements is, or would be. */
export function environmentOf(
  { home, interpreter }: Pick<EnvironmentOptions, 'home' | 'interpreter'>,
  requirements: string[],
): string {
  const key = createHash('sha256').update(
    JSON.stringify([interpreter.path, interpreter.version, requirements]),
  );
  return join(home, 'environments', key.digest('hex').slice(0, 32));
}
