/**
 * Runs npm in an empty folder with a package.json of ours, so that nothing of the skill configures it. It may use the
 * registry only, and runs no script of a package. Its cache is a folder of ours, from which each archive is digested.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { NpmNeed } from '../../../load/declared-packages.ts';
import type { InstallHow } from '../../../load/install-progress.ts';
import {
  archivesIn,
  PACKAGE_FILE,
  PACKAGE_LOCK,
  REGISTRY_ONLY,
  type NpmArchive,
} from '../../../load/npm-packages.ts';
import type { PinnedPackage, PinnedPackages } from '../../../load/pins.ts';
import { removeTree } from '../../../load/remove-tree.ts';
import { assertFewPackages, assertSmallTree } from './npm-size.ts';

const TIMEOUT_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const FLAGS = [
  ...['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--no-bin-links', '--loglevel=error'],
];

export interface NpmJob {
  needs: readonly NpmNeed[];
  /** The versions to fetch again. */
  pins: PinnedPackages | undefined;
  /** Where the packages go; does not exist yet. */
  folder: string;
}

/** Returns every package that was installed, with the sha256 of its archive. */
export async function fetchNpmPackages(
  { needs, pins, folder }: NpmJob,
  { onInstall, signal }: Pick<InstallHow, 'onInstall' | 'signal'>,
): Promise<PinnedPackage[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-npm-'));
  const cache = join(scratch, 'cache');
  const project = { cwd: scratch, cache, signal };
  try {
    writeFileSync(join(scratch, PACKAGE_FILE), JSON.stringify(projectFor(needs, pins)));
    onInstall?.({
      step: 'resolve',
      engine: 'npm',
      what: needs.map(({ requirement }) => requirement).join(', '),
    });
    await npm(['install', '--package-lock-only', ...FLAGS], project);
    const archives = archivesIn(readFileSync(join(scratch, PACKAGE_LOCK), 'utf8'), 'omitted');
    assertFewPackages(archives.length);
    onInstall?.({ step: 'download', engine: 'npm', what: `${archives.length} packages` });
    await npm(['ci', ...FLAGS], project);
    await assertSmallTree(join(scratch, 'node_modules'));
    await cp(join(scratch, 'node_modules'), folder, { recursive: true });
    return digestsOf(archives, cache);
  } finally {
    await removeTree(scratch);
  }
}

/** Pinned versions are asked for exactly, wherever a dependency accepts them; the result is compared with the pins. */
function projectFor(needs: readonly NpmNeed[], pins: PinnedPackages | undefined): Record<string, unknown> {
  const packages = pins?.packages ?? [];
  const versionFor = ({ requirement, spec }: NpmNeed): string => {
    const known = packages.filter(({ name }) => name === requirement).map(({ version }) => version);
    const [version, ...others] = known.length > 1 ? known.filter((one) => isMeant(spec, one)) : known;
    return others.length === 0 && version !== undefined ? version : spec;
  };
  const direct = needs.map((need) => [need.requirement, versionFor(need)] as const);
  const exact = new Set(direct.filter(([, version]) => EXACT.test(version)).map(([name]) => name));
  const names = new Set(direct.map(([name]) => name));
  // npm refuses to change what the project itself asks for.
  const others = packages.filter(({ name }) => !names.has(name) || exact.has(name));
  return {
    name: 'packages-of-a-skill',
    private: true,
    dependencies: Object.fromEntries(direct),
    overrides: Object.fromEntries(overridesFor(others)),
  };
}

const EXACT = /^\d+\.\d+\.\d+/;

/** Whether `^1.2.0`, `~1.2.0` or `1` means this version, judged by its first numbers. */
function isMeant(spec: string, version: string): boolean {
  const [, sign, major, minor] = /^([~^]?)(\d+)(?:\.(\d+))?/.exec(spec) ?? [];
  const isNarrow = sign !== '^' || major === '0';
  const start = minor !== undefined && isNarrow ? `${major}.${minor}.` : `${major}.`;
  return major !== undefined && version.startsWith(start);
}

/** One version replaces whatever is asked for; one of several, where it fits. */
function overridesFor(packages: readonly PinnedPackage[]): [string, string][] {
  const byName = Map.groupBy(packages, ({ name }) => name);
  return [...byName.values()].flatMap((versions) =>
    versions.map(({ name, version }): [string, string] => [
      versions.length > 1 ? `${name}@${version}` : name,
      version,
    ]),
  );
}

function digestsOf(archives: readonly NpmArchive[], cache: string): PinnedPackage[] {
  const found = new Map<string, PinnedPackage>();
  for (const { name, version, integrity, optional } of archives) {
    const [algorithm = '', base64 = ''] = integrity.split('-', 2);
    const hex = Buffer.from(base64, 'base64').toString('hex');
    const place = [hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)];
    const file = join(cache, '_cacache', 'content-v2', algorithm, ...place);
    // Packages for other machines are listed and not fetched.
    if (optional && !existsSync(file)) continue;
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    found.set(`${name} ${version}`, { name, version, sha256 });
  }
  return [...found.values()];
}

interface Project {
  cwd: string;
  cache: string;
  signal: AbortSignal | undefined;
}

function npm(args: readonly string[], { cwd, cache, signal }: Project): Promise<void> {
  // Then whatever has an address in the lock is not of the registry, which tells even an older npm's result.
  const settings = { npm_config_omit_lockfile_registry_resolved: 'true', npm_config_cache: cache };
  const env = { ...process.env, ...REGISTRY_ONLY, ...settings };
  const options = { cwd, env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve, reject) => {
    execFile('npm', [...args], { ...options, ...(signal ? { signal } : {}) }, (error, _, stderr) => {
      if (!error) resolve();
      else if (signal?.aborted) reject(interrupted(error));
      else reject(failure(error, stderr));
    });
  });
}

function failure(cause: Error, stderr: string): SkillError {
  const isMissing = 'code' in cause && cause.code === 'ENOENT';
  const words = stderr.trim().split('\n').slice(0, 3).join(' ').slice(0, 500);
  return new SkillError(
    'skill_unavailable',
    isMissing ? 'npm is not installed' : `npm could not install the packages: ${words}`,
    {
      fix: isMissing
        ? 'Install it: apt-get install npm'
        : 'Check the names and versions in its package.json, and that this machine reaches the npm registry.',
      cause,
    },
  );
}

function interrupted(cause: unknown): SkillError {
  return new SkillError('cancelled', 'The installation was cancelled', {
    fix: 'Run it again; nothing that is unfinished was kept.',
    cause,
  });
}
