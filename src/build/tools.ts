/**
 * Finds and runs the author's compilers, and says what to install if one is missing.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** The beginning of a compiler's output is the most useful part. */
const MAX_TRACE = 4000;

export interface Workshop {
  /** The bundle, which is only read. */
  bundle: string;
  /** A temporary folder. */
  scratch: string;
  /** File to write the result to. */
  output: string;
  /** Folders to search upwards for npm packages. */
  packagesFrom: readonly string[];
  /** Whether the manifest allows a mode that has Node's own modules. */
  hasNode: boolean;
  /** Receives a sentence when something takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
}

export interface Tool {
  /** Description for messages, such as `the C compiler clang`. */
  what: string;
  /** Program and arguments that succeed if the tool works. */
  probe: readonly [program: string, ...args: string[]];
  /** Command that installs it. */
  install: string;
}

export interface CompileOptions {
  cwd: string;
  /** What is built, as the start of a sentence: `The C source`. */
  source: string;
  env?: NodeJS.ProcessEnv;
  /** Text for stdin. */
  input?: string;
}

/** Runs a compiler and returns its output; throws with its messages if it fails. */
export function compile(program: string, args: readonly string[], options: CompileOptions): string {
  const { source, env = process.env, ...rest } = options;
  const run = spawnSync(program, args, {
    ...rest,
    env: withoutPackagePrograms(env),
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: 'utf8',
  });
  if (run.status === 0) return run.stdout;
  const words = run.error?.message ?? `${run.stderr}${run.stdout}`.trim();
  throw new SkillError('manifest_invalid', `${source} was not built: "${program}" failed`, {
    fix: 'Fix the errors that the compiler reports.',
    detail: { program, args, trace: words.slice(0, MAX_TRACE) },
  });
}

/** npm prepends programs of packages to PATH, and clang would run an incompatible `wasm-opt` among them. */
function withoutPackagePrograms(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...env, PATH: folders.join(delimiter) };
}

export function requireTool(tool: Tool): void {
  if (works(tool.probe)) return;
  throw new SkillError(
    'skill_unavailable',
    `Building this skill needs ${tool.what}, which is not installed`,
    {
      fix: `Install it: ${tool.install}`,
      detail: { tried: tool.probe.join(' ') },
    },
  );
}

export function works([program, ...args]: Tool['probe']): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Finds a file of an npm package, from the given folders upwards: that of the bundle comes first. */
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
    `Building this skill needs the npm package ${name}, which is not installed`,
    {
      fix: `Install it in your project and build again: npm install --save-dev ${name} && npx skillcell build ${shellWord(from[0] ?? '.')}`,
      detail: { lookedFrom: [...from] },
    },
  );
}
