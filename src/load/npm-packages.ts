/**
 * The npm packages that a `package-lock.json` lists. A build puts them into the script of a skill, and the lock of the
 * skill records them.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import type { FileDigests } from './bundle.ts';

export const PACKAGE_FILE = 'package.json';
export const PACKAGE_LOCK = 'package-lock.json';

/** A version, a range or a tag of the registry; not a URL, a repository or a folder. */
export const FROM_REGISTRY: RegExp = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?[\w.^~<>=|*+ -]*$/;
/**
 * Settings of npm. The registry is the operator's, but what its packages depend on is anyone's: a repository, whose code
 * would be built, an address that only this machine reaches, or a folder of it. An older npm knows only the last setting.
 */
export const REGISTRY_ONLY: Readonly<Record<string, string>> = {
  npm_config_allow_git: 'none',
  npm_config_allow_remote: 'none',
  npm_config_allow_file: 'none',
  npm_config_allow_directory: 'none',
  npm_config_git: '/dev/null/git',
};
const MAX_LOCK_BYTES = 8 * 1024 * 1024;
/** One line of a `skill.lock`: name, version and what the registry calls integrity. */
export const NPM_LINE: RegExp = /^(?:@[\w.~-]+\/)?[\w.~-]+ [\w.+-]+ sha(?:256|384|512)-[A-Za-z0-9+/]+={0,2}$/;

const lockSchema = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
    }),
  ),
});

/** The archive of a package in a registry. */
export interface NpmArchive {
  name: string;
  version: string;
  integrity: string;
  /** npm skips it if it is for another machine. */
  optional: boolean;
}

/** Name, version and integrity of each package, sorted; throws if one is not a file of a registry. */
export function npmPackagesIn(text: string): string[] {
  const lines = archivesIn(text).map(({ name, version, integrity }) => `${name} ${version} ${integrity}`);
  return [...new Set(lines)].toSorted();
}

/** The archives that a lock lists; throws if one is not a file of a registry, or has an address in a lock without any. */
export function archivesIn(text: string, addresses: 'allowed' | 'omitted' = 'allowed'): NpmArchive[] {
  const parsed = lockSchema.safeParse(text.length > MAX_LOCK_BYTES ? undefined : parseJson(text));
  if (!parsed.success) throw invalidLock('it is not a lock that npm 7 or newer wrote');
  return Object.entries(parsed.data.packages).flatMap(([path, found]) => {
    const at = path.lastIndexOf('node_modules/');
    if (at === -1 || found.dev) return path === '' || found.dev ? [] : [unlisted(path)];
    const { version = '', integrity = '', optional = false } = found;
    const name = path.slice(at + 'node_modules/'.length);
    // Without an integrity it is a folder or a repository, whose code a fetch would build. npm can omit the address.
    const hasPlace =
      found.resolved === undefined || (addresses === 'allowed' && /^https?:/.test(found.resolved));
    const isFile = hasPlace && !found.link;
    if (!isFile || !NPM_LINE.test(`${name} ${version} ${integrity}`)) return [unlisted(path)];
    return [{ name, version, integrity, optional }];
  });
}

export function isPackageFile(path: string): boolean {
  return path === PACKAGE_FILE || path.endsWith(`/${PACKAGE_FILE}`);
}

/** The packages that a build put into a bundle; undefined if it has no npm packages. */
export function npmPackagesOf(stagedDir: string, files: FileDigests): string[] | undefined {
  if (!Object.hasOwn(files, PACKAGE_LOCK) || !Object.hasOwn(files, PACKAGE_FILE)) return undefined;
  const packages = npmPackagesIn(readFileSync(join(stagedDir, PACKAGE_LOCK), 'utf8'));
  return packages.length > 0 ? packages : undefined;
}

function unlisted(path: string): never {
  throw invalidLock(`the package ${JSON.stringify(path)} is not a file of a registry with an integrity`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidLock(reason: string): SkillError {
  return new SkillError('manifest_invalid', `The file "${PACKAGE_LOCK}" cannot be used: ${reason}.`, {
    fix: `List only packages of the registry in ${PACKAGE_FILE}, and write the lock again: npm install --package-lock-only`,
    detail: { file: PACKAGE_LOCK, reason },
  });
}
