/**
 * The runtime of one command. It keeps no cells ready, because the process ends after the call.
 *
 * @module
 */
import { homedir } from 'node:os';
import {
  type ExecuteOptions,
  type Mode,
  type OperatorPolicy,
  type Runtime,
  type RuntimeOptions,
  SkillError,
  createRuntime,
  parseDuration,
  parseSize,
} from '../inside.ts';
import { readConfig, withConfig } from './config.ts';
import { printNote } from './output.ts';
import { personAtTerminal } from './person.ts';
import { policyInForce } from './policy-in-force.ts';

/** For places where the command line cannot be changed, such as a CI job. */
const TRUST_VARIABLE = 'SKILLCELL_TRUST_REMOTE_CODE';

/** Options that `run` and `inspect` share, as parsed by commander. */
export interface PlanFlags {
  isolated?: boolean;
  trustRemoteCode?: boolean;
  execution?: Mode;
  timeout?: string;
  memory?: string;
  workspace?: string;
  policy?: string;
  /** Names given on the command line. */
  env?: string[];
}

/** What a person gives to one call, as parsed by commander. */
export interface GrantFlags {
  write?: string[];
  host?: string[];
  program?: string[];
  processes?: number;
}

/** Options of a process that runs the calls of others, as parsed by commander. */
export interface ServiceFlags {
  env?: string[];
  keepContent?: boolean;
}

/** Niceness of `subprocess` cells: under full load, such a cell gets a thirtieth of the CPU time that the service gets. */
const NICENESS = 15;

/** What the runtimes of a service and of a worker have in common. */
export function serviceOptions(flags: ServiceFlags, policy: () => OperatorPolicy): RuntimeOptions {
  return {
    // The dispatcher limits concurrency, fairly between tenants; the pool would only add a first-come queue.
    pool: { maxConcurrent: Number.POSITIVE_INFINITY },
    // A service must respond, and a worker send its heartbeats, while a skill uses every core.
    jail: { niceness: NICENESS },
    policy,
    ...(flags.env ? { allowEnv: variableNames(flags.env) } : {}),
    audit: { keepContent: flags.keepContent ?? false },
  };
}

/** Of commands that show what a call may do. */
export interface ShowFlags extends PlanFlags, GrantFlags {
  json?: boolean;
}

/** Which skills are offered, as parsed by commander. */
export interface OfferFlags {
  skills?: string[] | undefined;
  bundled?: boolean | undefined;
}

export interface OpenOptions extends OfferFlags {
  policy?: string;
  /** False for commands that run and grant nothing: an invalid policy must not block them. */
  needsPolicy?: boolean;
  keepContent?: boolean;
  /** A jail that opened for an earlier command need not be tried before this one. */
  makesOneCall?: boolean;
  /** Made-up values of variables and secrets, used instead of the environment and allowed for every skill. */
  invented?: Record<string, string>;
}

export function openRuntime(options: OpenOptions = {}): Runtime {
  const policy = options.needsPolicy === false ? undefined : policyInForce(options.policy);
  return createRuntime({
    caller: 'cli',
    pool: { size: 0 },
    ...(options.makesOneCall ? { jail: { remembersProbe: true } } : {}),
    userHome: homedir(),
    offer: offerOptions(options),
    ...(policy ? { policy } : {}),
    ...inventedEnv(options.invented),
    ...personAtTerminal(),
    audit: { keepContent: withConfig(options, readConfig()).keepContent ?? false },
    // Also without a terminal: whoever reads the log should know what takes so long.
    onProgress: (text) => printNote(text),
  });
}

export function offerOptions({ skills, bundled }: OfferFlags): NonNullable<RuntimeOptions['offer']> {
  return { skills, bundled };
}

/** Throws if a pattern matches no skill, and says so if only examples are offered. */
export function checkOffer(runtime: Runtime, { bundled, skills }: OfferFlags): void {
  runtime.assertOffer();
  if (bundled !== true && skills === undefined && runtime.list().every(({ origin }) => origin === 'bundled'))
    printNote('No skills in this project and none installed: offering the bundled examples.');
}

/** The options of a call with what a person gives to it. */
export function callOptions(flags: PlanFlags & GrantFlags): ExecuteOptions {
  const { write, host, program, processes, env } = flags;
  const options = executeOptions(flags);
  const limits = processes === undefined ? undefined : { processes: wholeNumber(processes) };
  const isGiven = [write, host, program, limits, env].some((one) => one !== undefined);
  return isGiven ? { ...options, grants: { write, hosts: host, programs: program, env, limits } } : options;
}

function wholeNumber(processes: number): number {
  if (Number.isSafeInteger(processes) && processes >= 0) return processes;
  throw new SkillError('usage', '--processes needs a whole number', {
    fix: 'Pass --processes 4, for example.',
  });
}

export function executeOptions(given: PlanFlags): ExecuteOptions {
  const flags = withConfig(given, readConfig());
  return {
    isolated: flags.isolated ?? false,
    // --isolated overrides the environment variable.
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

/** Values stay in the environment, because every user of the machine can read command lines. */
export function variableNames(names: readonly string[]): readonly string[] {
  const invalid = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (invalid === undefined) return names;
  const shown = JSON.stringify(invalid.split('=')[0]);
  throw new SkillError('usage', `--env ${shown} is not a valid variable name`, {
    fix: 'Pass only the name, and set the value in the environment: API_KEY=… skillcell run SKILL --env API_KEY',
  });
}
