/**
 * The runtime of one command: no cells are kept ready, because nothing comes after the call.
 *
 * @module
 */
import {
  createRuntime,
  parseDuration,
  parseSize,
  SkillError,
  type ExecuteOptions,
  type Mode,
  type Runtime,
  type RuntimeOptions,
} from '../index.ts';
import { printNote } from './output.ts';
import { personAtTerminal } from './person.ts';
import { policyInForce } from './policy-in-force.ts';

/** Where no command line can be changed, such as in a CI job. */
const TRUST_VARIABLE = 'SKILLCELL_TRUST_REMOTE_CODE';

/** Options that `run` and `inspect` share, as commander gives them. */
export interface PlanFlags {
  isolated?: boolean;
  trustRemoteCode?: boolean;
  execution?: Mode;
  timeout?: string;
  memory?: string;
  workspace?: string;
  policy?: string;
  /** Names that the person at the command line gave. */
  env?: string[];
}

export interface OpenOptions {
  policy?: string;
  /** False where nothing runs and nothing is granted: then no policy can stand in the way. */
  needsPolicy?: boolean;
  keepContent?: boolean;
  /** Invented values of variables and secrets, which every skill may have, instead of the environment. */
  invented?: Record<string, string>;
}

export function openRuntime(options: OpenOptions = {}): Runtime {
  const policy = options.needsPolicy === false ? undefined : policyInForce(options.policy);
  return createRuntime({
    caller: 'cli',
    pool: { size: 0 },
    ...(policy ? { policy } : {}),
    ...inventedEnv(options.invented),
    ...personAtTerminal(),
    audit: { keepContent: options.keepContent ?? false },
    ...(process.stderr.isTTY ? { onProgress: (text) => printNote(text) } : {}),
  });
}

export function executeOptions(flags: PlanFlags): ExecuteOptions {
  return {
    isolated: flags.isolated ?? false,
    // Who asks for isolation gets it, whatever the surroundings say.
    trustRemoteCode:
      flags.trustRemoteCode ?? (flags.isolated !== true && process.env[TRUST_VARIABLE] === '1'),
    ...(flags.execution ? { execution: flags.execution } : {}),
    ...(flags.timeout === undefined ? {} : { timeout: parseDuration(flags.timeout) }),
    ...(flags.memory === undefined ? {} : { memory: parseSize(flags.memory) }),
    ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }),
    ...(flags.env === undefined ? {} : { allowEnv: variableNames(flags.env) }),
  };
}

function inventedEnv(
  values: Record<string, string> | undefined,
): Pick<RuntimeOptions, 'env' | 'allowEnv' | 'secrets'> {
  if (!values) return {};
  return { env: values, allowEnv: 'all', secrets: (name) => values[name] };
}

/** Values stay in the environment: on a command line everybody on the machine could read them. */
export function variableNames(given: readonly string[]): readonly string[] {
  const odd = given.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (odd === undefined) return given;
  throw new SkillError('usage', `--env ${JSON.stringify(odd.split('=')[0])} is not the name of a variable`, {
    fix: 'Give only the name, and set the value in the environment: API_KEY=… skillcell run SKILL --env API_KEY',
  });
}
