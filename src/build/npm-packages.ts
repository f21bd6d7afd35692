/**
 * Fetches the npm packages of a skill into a temporary folder: exactly what `package-lock.json` pins, from the registry,
 * without running any of their scripts. Without a lock, one is written beside `package.json`.
 *
 * @module
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import {
  FROM_REGISTRY,
  npmPackagesIn,
  PACKAGE_FILE,
  PACKAGE_LOCK,
  REGISTRY_ONLY,
} from '../load/npm-packages.ts';
import { compile, requireTool, type Tool } from './tools.ts';

const NPM: Tool = { what: 'npm', probe: ['npm', '--version'], install: 'apt-get install npm' };
/** The settings of a bundle could name another registry, and would end up in what is built. */
const NEVER_COPIED = new Set(['node_modules', '.git', '.npmrc', PACKAGE_LOCK]);
const FLAGS = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];

const packageSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

/** Whether the bundle has a `package.json` that lists packages. */
export function hasNpmPackages(bundle: string): boolean {
  return existsSync(join(bundle, PACKAGE_FILE)) && Object.keys(dependenciesOf(bundle)).length > 0;
}

export interface FetchedPackages {
  /** A copy of the bundle's sources, with the packages in `node_modules`. */
  folder: string;
  /** Name and version of each package. */
  packages: string[];
}

export function fetchPackages(bundle: string, scratch: string): FetchedPackages {
  for (const [name, spec] of Object.entries(dependenciesOf(bundle)))
    if (!FROM_REGISTRY.test(spec)) throw notFromRegistry(name, spec);
  requireTool(NPM);
  const folder = join(scratch, 'project');
  mkdirSync(folder);
  cpSync(bundle, folder, { recursive: true, filter: (path) => !NEVER_COPIED.has(basename(path)) });
  const lock = join(bundle, PACKAGE_LOCK);
  const isLocked = existsSync(lock);
  if (isLocked) copyFileSync(lock, join(folder, PACKAGE_LOCK));
  const env = { ...process.env, ...REGISTRY_ONLY };
  const options = { cwd: folder, env, source: 'The list of npm packages' };
  if (!isLocked) compile('npm', ['install', '--package-lock-only', ...FLAGS], options);
  const packages = npmPackagesIn(readFileSync(join(folder, PACKAGE_LOCK), 'utf8'));
  compile('npm', ['ci', ...FLAGS], options);
  if (!isLocked) copyFileSync(join(folder, PACKAGE_LOCK), lock);
  return { folder, packages: packages.map((line) => line.split(' ').slice(0, 2).join(' ')) };
}

function dependenciesOf(bundle: string): Record<string, string> {
  const file = join(bundle, PACKAGE_FILE);
  try {
    const { dependencies, optionalDependencies } = packageSchema.parse(
      JSON.parse(readFileSync(file, 'utf8')),
    );
    return { ...dependencies, ...optionalDependencies };
  } catch (cause) {
    throw new SkillError('manifest_invalid', `The file ${JSON.stringify(file)} is not a valid package.json`, {
      fix: 'List the packages of the skill by name and version under "dependencies".',
      cause,
    });
  }
}

function notFromRegistry(name: string, spec: string): SkillError {
  return new SkillError(
    'manifest_invalid',
    `The package ${JSON.stringify(name)} comes from ${JSON.stringify(spec)}, which is not a version of the registry`,
    { fix: `Name a version of it in ${PACKAGE_FILE}, such as "^1.0.0".`, detail: { name, spec } },
  );
}
