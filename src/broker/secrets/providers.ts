/**
 * Where values of secrets come from. A provider is asked by name when a call comes, and never before.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SkillError } from '../../errors.ts';

export interface SecretProvider {
  /** For messages, e.g. `the environment`. */
  readonly name: string;
  /** Undefined when it has no such secret. */
  get(name: string, context: SecretContext): Promise<string | undefined>;
}

export interface SecretContext {
  /** `category/name` of the skill that asks. */
  skill: string;
}

/** The shortest provider: a function. */
export type SecretCallback = (
  name: string,
  context: SecretContext,
) => string | undefined | Promise<string | undefined>;

const COMMAND_TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024;

export function environmentSecrets(env: Record<string, string | undefined>): SecretProvider {
  return {
    name: 'the environment',
    get: async (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
  };
}

export function callbackSecrets(callback: SecretCallback): SecretProvider {
  return { name: 'the callback', get: async (name, context) => callback(name, context) };
}

/** A folder with one file per secret, as orchestrators mount them, or one file with lines `NAME=value`. */
export function fileSecrets(path: string): SecretProvider {
  return { name: `"${path}"`, get: (name) => fromFile(path, name) };
}

async function fromFile(path: string, name: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return parseEnv(await readFile(path, 'utf8'))[name];
  } catch (cause) {
    throw failed(`Cannot read the secrets at "${path}"`, { fix: 'Check the path and its rights.', cause });
  }
  return fromFolder(path, name);
}

/** A name has no slash and no dot: it was checked with the manifest. */
async function fromFolder(folder: string, name: string): Promise<string | undefined> {
  try {
    return withoutLineEnd(await readFile(join(folder, name), 'utf8'));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw failed(`Cannot read the secret "${name}" in "${folder}"`, { fix: 'Check its rights.', cause });
  }
}

/**
 * A program that prints the value; `{name}` in its arguments is the name of the secret. It runs without a shell and
 * with the host's environment. An exit code other than 0 is a failure, printing nothing means: no such secret.
 */
export function commandSecrets(argv: readonly string[]): SecretProvider {
  return { name: `the command "${argv[0] ?? ''}"`, get: (name) => fromCommand(argv, name) };
}

function fromCommand(argv: readonly string[], name: string): Promise<string | undefined> {
  const [program = '', ...args] = argv.map((part) => part.replaceAll('{name}', name));
  const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: MAX_BYTES, windowsHide: true };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, output) => {
      if (!error) return resolve(withoutLineEnd(output) || undefined);
      // Neither what it printed nor its arguments: one of them may be the secret.
      const cause = error.code === undefined ? 'it took too long' : `it ended with ${String(error.code)}`;
      const fix = `Run it by hand for "${name}" and see what it says.`;
      return reject(failed(`The command "${program}" gave no secret "${name}": ${cause}`, { fix }));
    });
  });
}

/** Editors and `echo` end a file with a line break that is not part of the value. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function failed(message: string, { fix, cause }: { fix: string; cause?: unknown }): SkillError {
  return new SkillError('usage', message, { fix, cause });
}
