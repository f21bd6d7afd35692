/**
 * Sources of secret values. A provider is asked for a name when a call needs it, never earlier.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SkillError } from '../../errors.ts';

/** Looks up secrets by name. */
export interface SecretProvider {
  /** For messages, e.g. `the environment`. */
  readonly name: string;
  /** Undefined when it has no such secret. */
  get(name: string, context: SecretContext): Promise<string | undefined>;
}

/** The skill that a secret is looked up for. */
export interface SecretContext {
  /** `category/name` of the skill. */
  skill: string;
}

/** A provider as a plain function. */
export type SecretCallback = (
  name: string,
  context: SecretContext,
) => string | undefined | Promise<string | undefined>;

const COMMAND_TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024;

/** Secrets from environment variables. */
export function environmentSecrets(env: Record<string, string | undefined>): SecretProvider {
  return {
    name: 'the environment',
    get: async (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
  };
}

export function callbackSecrets(callback: SecretCallback): SecretProvider {
  return { name: 'the callback', get: async (name, context) => callback(name, context) };
}

/** Secrets from a folder with one file per secret, as orchestrators mount them, or from one file with lines `NAME=value`. */
export function fileSecrets(path: string): SecretProvider {
  return { name: `"${path}"`, get: (name) => fromFile(path, name) };
}

async function fromFile(path: string, name: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return parseEnv(await readFile(path, 'utf8'))[name];
  } catch (cause) {
    throw failed(`Cannot read the secrets at "${path}"`, {
      fix: 'Check the path and its permissions.',
      cause,
    });
  }
  return fromFolder(path, name);
}

/** The manifest check guarantees that a name has no slash or dot. */
async function fromFolder(folder: string, name: string): Promise<string | undefined> {
  try {
    return withoutLineEnd(await readFile(join(folder, name), 'utf8'));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw failed(`Cannot read the secret "${name}" in "${folder}"`, {
      fix: 'Check the permissions of the file.',
      cause,
    });
  }
}

/**
 * Secrets from a program that prints the value; `{name}` in its arguments is replaced by the name of the secret. It runs
 * without a shell and with the host's environment. An exit code other than 0 is a failure; empty output means that there is
 * no such secret.
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
      // Quote neither its output nor its arguments, because they may contain the secret.
      const cause = error.code === undefined ? 'it timed out' : `it exited with ${String(error.code)}`;
      const fix = `Run the command by hand for "${name}" to see its output.`;
      return reject(failed(`The command "${program}" failed for the secret "${name}": ${cause}`, { fix }));
    });
  });
}

/** Removes the final line break that editors and `echo` add. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function failed(message: string, { fix, cause }: { fix: string; cause?: unknown }): SkillError {
  return new SkillError('usage', message, { fix, cause });
}
