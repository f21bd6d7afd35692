/**
 * Asks npm which registry it uses. Only the configuration of the user and the machine counts: the one of a project could be a
 * stranger's.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import type { FindRegistry } from './npm.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;

export interface NpmRegistryOptions {
  /** Used for every package instead of asking npm. */
  registry?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** Where npm runs: a folder that is not a project. */
  folder?: string;
}

export function npmRegistries(options: NpmRegistryOptions = {}): FindRegistry {
  const { registry, env = process.env, folder = homedir() } = options;
  const known = new Map<string, Promise<string>>();
  return (scope) => {
    if (registry !== undefined) return Promise.resolve(registry);
    const keys = scope === undefined ? ['registry'] : ['registry', `${scope}:registry`];
    const asked = known.get(keys.join()) ?? ask(keys, env, folder);
    known.set(keys.join(), asked);
    return asked;
  };
}

/** The last of these settings that npm has. */
async function ask(keys: readonly string[], env: NodeJS.ProcessEnv, folder: string): Promise<string> {
  const answers = await Promise.all(keys.map((key) => askOne(key, env, folder)));
  const registry = answers.findLast((answer) => answer !== 'undefined' && answer !== '');
  if (registry !== undefined && URL.canParse(registry)) return registry;
  throw cannotAsk(`npm names no registry, but ${quote(answers.join(' '))}`);
}

async function askOne(key: string, env: NodeJS.ProcessEnv, folder: string): Promise<string> {
  try {
    const args = ['config', 'get', key, '--no-update-notifier'];
    const { stdout } = await run('npm', args, { cwd: folder, env, timeout: TIMEOUT_MS });
    return stdout.trim();
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw cannotAsk(isMissing ? 'npm is not installed' : 'npm does not answer', cause);
  }
}

function cannotAsk(reason: string, cause?: unknown): SkillError {
  return new SkillError('skill_unavailable', `The registry of npm packages is not known: ${reason}`, {
    fix: 'Name the registry with --registry, or set it with `npm config set registry`.',
    cause,
  });
}
