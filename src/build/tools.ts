/**
 * Compilers as an author has them: looked for, run, and when one is missing, what to install.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** What a message can carry of a compiler's words; the first ones tell the most. */
const SHOWN_CHARACTERS = 4000;

export interface Workshop {
  /** The bundle; only read. */
  bundle: string;
  /** A temporary folder. */
  scratch: string;
  /** Where the result goes. */
  output: string;
  /** Where npm packages are looked for. */
  packagesFrom: readonly string[];
}

export interface Tool {
  /** What it is, for people: `the C compiler clang`. */
  what: string;
  /** Program and arguments that show whether it works. */
  probe: readonly [program: string, ...args: string[]];
  /** How to get it. */
  install: string;
}

export interface CompileOptions {
  cwd: string;
  /** What is built, as a sentence begins: `The C source`. */
  source: string;
  env?: NodeJS.ProcessEnv;
  /** Goes to its stdin. */
  input?: string;
}

/** Runs a compiler and returns what it prints; its complaint becomes the error. */
export function compile(program: string, args: readonly string[], options: CompileOptions): string {
  const { source, env = process.env, ...rest } = options;
  const ended = spawnSync(program, args, {
    ...rest,
    env: withoutPackagePrograms(env),
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: 'utf8',
  });
  if (ended.status === 0) return ended.stdout;
  const words = ended.error?.message ?? `${ended.stderr}${ended.stdout}`.trim();
  throw new SkillError('manifest_invalid', `${source} was not built: "${program}" failed`, {
    fix: 'Correct the source as the compiler says.',
    detail: { program, args, trace: words.slice(0, SHOWN_CHARACTERS) },
  });
}

/** npm puts the programs of packages in front; clang would run a `wasm-opt` among them that does not fit its output. */
function withoutPackagePrograms(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...env, PATH: folders.join(delimiter) };
}

export function demand(tool: Tool): void {
  if (works(tool.probe)) return;
  throw new SkillError('skill_unavailable', `Building this skill needs ${tool.what}, which is not here`, {
    fix: `Install it: ${tool.install}`,
    detail: { tried: tool.probe.join(' ') },
  });
}

export function works([program, ...args]: Tool['probe']): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** A file of an npm package, looked for from the given folders upwards. */
export function packageFile(name: string, file: string, from: readonly string[]): string {
  for (const start of from) {
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const found = join(folder, 'node_modules', name, file);
      if (existsSync(found)) return found;
      if (folder === dirname(folder)) break;
    }
  }
  throw new SkillError(
    'skill_unavailable',
    `Building this skill needs the npm package ${name}, which is not here`,
    {
      fix: `Install it where you work: npm install --save-dev ${name}`,
      detail: { lookedFrom: [...from] },
    },
  );
}
