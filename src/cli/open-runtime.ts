/**
 * The runtime of one command: no cells are kept ready, because nothing comes after the call.
 *
 * @module
 */
import {
  createRuntime,
  parseDuration,
  parseSize,
  type ExecuteOptions,
  type Mode,
  type Runtime,
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
}

export interface OpenOptions {
  policy?: string;
  /** False where nothing runs and nothing is granted: then no policy can stand in the way. */
  needsPolicy?: boolean;
  keepContent?: boolean;
  /** Where values of declared variables come from, instead of the environment. */
  env?: Record<string, string>;
}

export function openRuntime(options: OpenOptions = {}): Runtime {
  const policy = options.needsPolicy === false ? undefined : policyInForce(options.policy);
  return createRuntime({
    caller: 'cli',
    pool: { size: 0 },
    ...(policy ? { policy } : {}),
    ...(options.env ? { env: options.env } : {}),
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
  };
}
