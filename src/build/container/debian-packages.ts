/**
 * Packages of Debian, taken apart and put together without installing them: apt finds, fetches and verifies, we read what is in
 * them. No script of a package runs, and nothing of it needs to be root.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileTree } from '../../cell/container/images/file-tree.ts';
import { applyLayer } from '../../cell/container/images/layers.ts';
import { SkillError } from '../../errors.ts';

/** What a program needs at run time; everything else that packages ask for is there to install or to configure them. */
const FOLLOWED = /^(?:lib|python3|zlib1g|media-types)/;
const PACKAGE = /^[a-z0-9][a-z0-9+.-]*$/;
const QUIETLY = [
  '--no-recommends',
  '--no-suggests',
  '--no-conflicts',
  '--no-breaks',
  '--no-replaces',
  '--no-enhances',
];
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARACTERS = 2000;

export function demandApt(): void {
  const missing = ['apt-get', 'apt-cache', 'dpkg-deb'].filter(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0,
  );
  if (missing.length === 0) return;
  throw new SkillError(
    'skill_unavailable',
    `A base image is made of Debian packages, and ${missing.join(', ')} is not here`,
    {
      fix: 'Build it on Debian or Ubuntu, or let the skill use an image of a registry (container.image).',
      detail: { missing },
    },
  );
}

/** The given packages and what they need, sorted. */
export function packageClosure(roots: readonly string[]): string[] {
  const text = step(['apt-cache', 'depends', '--recurse', ...QUIETLY, ...roots], {
    what: 'Debian packages could not be looked up',
  });
  const dependencies = parseDependencies(text);
  const known = new Set(roots);
  // What is added while it is walked through is walked through as well.
  for (const name of known) {
    for (const other of dependencies.get(name) ?? []) if (FOLLOWED.test(other)) known.add(other);
  }
  return [...known].sort();
}

/** What each package needs: its name at the beginning of a line, and a line for each that it depends on. */
export function parseDependencies(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    if (PACKAGE.test(line)) {
      current = [];
      found.set(line, current);
    }
    // A bar in front means: or the next one. The next one is the one without.
    const name = /^ {2}(?:Pre)?Depends: (\S+)$/.exec(line)?.[1] ?? '';
    if (PACKAGE.test(name)) current.push(name);
  }
  return found;
}

/** Fetches packages into a folder and returns the files, sorted. */
export function downloadPackages(names: readonly string[], folder: string): string[] {
  step(['apt-get', 'download', ...names], { what: 'Debian packages could not be fetched', cwd: folder });
  return readdirSync(folder)
    .filter((file) => file.endsWith('.deb'))
    .sort();
}

/** Puts the files of a package into a tree. */
export async function addPackage(tree: FileTree, folder: string, file: string): Promise<void> {
  const tar = join(folder, `${file}.tar`);
  const out = openSync(tar, 'wx');
  try {
    step(['dpkg-deb', '--fsys-tarfile', join(folder, file)], {
      what: `The package ${file} could not be read`,
      out,
    });
  } finally {
    closeSync(out);
  }
  await applyLayer(tree, tar, { keepsFolderLinks: true });
}

/** `libc6=2.36-9+deb12u13` of the name of a file. */
export function packageVersion(file: string): string {
  const [name = '', version = ''] = file.split('_');
  return `${name}=${decodeURIComponent(version)}`;
}

interface StepOptions {
  /** What failed, when it does. */
  what: string;
  cwd?: string;
  /** Descriptor that the output goes to. */
  out?: number;
  env?: NodeJS.ProcessEnv;
}

/** Runs a program of the system and returns what it prints. */
export function step([program = '', ...args]: readonly string[], options: StepOptions): string {
  const { what, cwd, out, env = { ...process.env, LC_ALL: 'C' } } = options;
  const stdio = ['ignore', out ?? 'pipe', 'pipe'] as const;
  const ended = spawnSync(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    stdio: [...stdio],
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (ended.status === 0) return out === undefined ? ended.stdout : '';
  const words = (ended.error?.message ?? ended.stderr).trim();
  throw new SkillError('skill_unavailable', `${what}: "${program}" failed`, {
    fix: 'See what it says. Lists of packages that are missing or old are renewed with: apt-get update',
    detail: { program, args, trace: words.slice(-SHOWN_CHARACTERS) },
  });
}
