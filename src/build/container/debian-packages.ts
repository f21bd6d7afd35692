/**
 * Unpacks Debian packages without installing them: apt finds, fetches and verifies them, and we read their files. No package
 * script runs, and root is not needed.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileTree } from '../../cell/images/file-tree.ts';
import { applyLayer } from '../../cell/images/layers.ts';
import { SkillError } from '../../errors.ts';

/** Dependencies needed at run time; all others only serve installation and configuration. */
const RUNTIME_PACKAGES = /^(?:lib|python3|zlib1g|media-types)/;
const PACKAGE = /^[a-z0-9][a-z0-9+.-]*$/;
const DEPENDS_ONLY = [
  '--no-recommends',
  '--no-suggests',
  '--no-conflicts',
  '--no-breaks',
  '--no-replaces',
  '--no-enhances',
];
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_TRACE = 2000;

export function requireApt(): void {
  const missing = ['apt-get', 'apt-cache', 'dpkg-deb'].filter(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0,
  );
  if (missing.length === 0) return;
  throw new SkillError(
    'skill_unavailable',
    `Building a base image needs Debian's package tools, but ${missing.join(', ')} is not installed`,
    {
      fix: 'Build it on Debian or Ubuntu, or let the skill use an image from a registry (container.image).',
      detail: { missing },
    },
  );
}

/** The given packages and their dependencies, sorted: those that matter at run time, or all. */
export function packageClosure(roots: readonly string[], which: 'runtime' | 'all' = 'runtime'): string[] {
  const text = step(['apt-cache', 'depends', '--recurse', ...DEPENDS_ONLY, ...roots], {
    what: 'Cannot look up Debian packages',
  });
  const dependencies = parseDependencies(text);
  const known = new Set(roots);
  // The loop also visits names that are added during it.
  for (const name of known) {
    for (const other of dependencies.get(name) ?? [])
      if (which === 'all' || RUNTIME_PACKAGES.test(other)) known.add(other);
  }
  return [...known].sort();
}

/** Dependencies by package. In the output of apt-cache, names are not indented, and their dependencies are. */
export function parseDependencies(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    if (PACKAGE.test(line)) {
      current = [];
      found.set(line, current);
    }
    // A leading bar marks an alternative; only the last one, without a bar, is used.
    const name = /^ {2}(?:Pre)?Depends: (\S+)$/.exec(line)?.[1] ?? '';
    if (PACKAGE.test(name)) current.push(name);
  }
  return found;
}

/** Fetches packages into a folder and returns the files, sorted. */
export function downloadPackages(names: readonly string[], folder: string): string[] {
  step(['apt-get', 'download', ...names], { what: 'Cannot fetch Debian packages', cwd: folder });
  return readdirSync(folder)
    .filter((file) => file.endsWith('.deb'))
    .sort();
}

/** Adds the files of a package to a tree. */
export async function addPackage(tree: FileTree, folder: string, file: string): Promise<void> {
  const tar = join(folder, `${file}.tar`);
  const out = openSync(tar, 'wx');
  try {
    step(['dpkg-deb', '--fsys-tarfile', join(folder, file)], {
      what: `Cannot read the package ${file}`,
      out,
    });
  } finally {
    closeSync(out);
  }
  await applyLayer(tree, tar, { keepsFolderLinks: true });
}

/** The name and version in a file name, such as `libc6=2.36-9+deb12u13`. */
export function packageVersion(file: string): string {
  const [name = '', version = ''] = file.split('_');
  return `${name}=${decodeURIComponent(version)}`;
}

interface StepOptions {
  /** The start of the error message. */
  what: string;
  cwd?: string;
  /** Descriptor for the output. */
  out?: number;
  env?: NodeJS.ProcessEnv;
}

/** Runs a system program and returns its output. */
export function step([program = '', ...args]: readonly string[], options: StepOptions): string {
  const { what, cwd, out, env = { ...process.env, LC_ALL: 'C' } } = options;
  const stdio = ['ignore', out ?? 'pipe', 'pipe'] as const;
  const run = spawnSync(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    stdio: [...stdio],
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (run.status === 0) return out === undefined ? run.stdout : '';
  const words = (run.error?.message ?? run.stderr).trim();
  throw new SkillError('skill_unavailable', `${what}: "${program}" failed`, {
    fix: 'Check its output. If package lists are missing or outdated, run: apt-get update',
    detail: { program, args, trace: words.slice(-MAX_TRACE) },
  });
}
