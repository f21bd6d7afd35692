/**
 * Programs: source that came with its call, usually written by a model. It has no capability but calling what it was given;
 * each of those calls has a cell, a grant and a receipt of its own.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { releaseTurn } from '../dispatch/release-turn.ts';
import { SkillError } from '../errors.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { withManifest, type Skill } from '../load/skill.ts';
import type { Limits } from '../manifest/manifest.ts';
import { parseDuration, parseSize } from '../manifest/units.ts';
import type { Offload } from '../offload/offload.ts';
import { packageRoot } from '../package-root.ts';
import type { CallRequest, ExecuteOptions } from '../runtime-options.ts';
import { filterSkills } from '../tools/offered.ts';
import { LentFunctions, type HostFunctions } from '../tree/functions.ts';
import type { TreeLimits } from '../tree/budget.ts';
import { withMcpFunctions, type McpClients } from './mcp-functions.ts';
import { PROGRAM_LANGUAGES, type ProgramLanguage } from '../vocabulary/program-languages.ts';

/** A program and what it may call. */
export interface Program {
  language: ProgramLanguage;
  /** The body of an asynchronous function with `input`, `skills` and `functions` in scope; or a module with `execute(input)`. */
  source: string;
  /** Names or patterns of the skills that it may call; absent: none. */
  skills?: readonly string[];
  /** Functions of the host that it may call. They run in the host, with its authority. */
  functions?: HostFunctions;
  /** Connected MCP clients by name: their tools are functions such as `github_create_issue`. */
  mcp?: McpClients;
}

/** Limits of a program, and of all calls inside together. Durations and sizes also as text: `30s`, `64MiB`. */
export interface ProgramLimits {
  /** Of the whole program, with the calls inside. */
  timeout?: number | string;
  /** Of the program itself. */
  memory?: number | string;
  /** Result and logs of the program itself. */
  output?: number | string;
  /** CPU time of the program itself, and as much for all calls inside together. */
  cpu?: number | string;
  /** Number of calls inside. */
  calls?: number;
  /** How deep calls may make calls; at most 3. */
  depth?: number;
}

/** How a program may run; never without a jail around it. */
export type ProgramMode = 'wasm' | 'subprocess';

/** Options of one program. Events of the calls inside have a `call.lineage`. */
export interface ProgramOptions extends Pick<
  ExecuteOptions,
  | 'workspace'
  | 'allowEnv'
  | 'tenant'
  | 'caller'
  | 'signal'
  | 'trace'
  | 'onEvent'
  | 'onOutput'
  | 'turn'
  | 'reject'
> {
  limits?: ProgramLimits;
  /** `subprocess`: natively in a jail, if the policy has `native_programs: true`. */
  execution?: ProgramMode;
  /** Loads a skill that the program calls, by its name or pattern, for example from a cache; absent: the runtime reads it. */
  load?: (ref: string) => Promise<Skill>;
  /** Called before each call of a skill inside, with its name; what it throws refuses the call. */
  charge?: (skill: string) => void;
}

export interface ProgramServices {
  offload: Offload;
  list: () => readonly BundleLocation[];
  read: (location: BundleLocation) => Promise<Skill>;
}

interface Runner {
  folder: string;
  limits: Limits;
  mode: ProgramMode;
}

/** As in `guest/programs/<folder>/manifest.yaml`. */
const MAX_SOURCE_BYTES = 256 * 1024;
/** `text/word_stats`, `text/*`, `bundled:text/*`, `*`. */
const PATTERN = /^(?:bundled:)?(?:\*|[^./][^/]*\/[^/]+)$/;
/** Runners with different limits that are kept. */
const MAX_RUNNERS = 32;

export class Programs {
  readonly #services: ProgramServices;
  /** By folder. Each is read once, because it is part of Skillcell. */
  readonly #bundles = new Map<string, Promise<Skill>>();
  /** By folder and limits, in order of use. */
  readonly #runners = new Map<string, Promise<Skill>>();

  constructor(services: ProgramServices) {
    this.#services = services;
  }

  /** The call that runs the program. Throws if the request is wrong; then its turn is given back. */
  request(program: Program, input: unknown, options: ProgramOptions): Promise<CallRequest> {
    return this.#request(program, input, options).catch((error: unknown) => {
      releaseTurn(options.turn);
      throw error;
    });
  }

  async #request(program: Program, input: unknown, options: ProgramOptions): Promise<CallRequest> {
    const { source, skills = [], functions = {}, mcp = {} } = program;
    assertSource(source);
    assertPatterns(skills);
    // A star that matches nothing is a mistake; a name is looked up when it is called.
    const stars = skills.filter((pattern) => pattern.includes('*'));
    if (stars.length > 0) filterSkills(this.#services.list(), stars);
    const { limits = {}, charge, ...rest } = options;
    const mode = modeOf(rest.execution);
    const [own, tree] = [ownLimits(limits), treeLimits(limits)];
    const lent = await withMcpFunctions(functions, mcp, options.signal);
    return {
      ref: await this.#runner({ folder: folderOf(program.language), limits: own, mode }),
      params: input === undefined ? { source } : { source, input },
      options: { ...rest, isolated: true },
      program: {
        digest: createHash('sha256').update(source).digest('hex'),
        skills,
        functions: await LentFunctions.from(lent, this.#services.offload),
        limits: tree,
        charge,
        ...(mode === 'subprocess' ? { isNative: true } : {}),
      },
    };
  }

  /** The bundle of ours that runs programs of a language, with these limits. */
  #runner(wanted: Runner): Promise<Skill> {
    const key = JSON.stringify(wanted);
    const runner = this.#runners.get(key) ?? this.#load(wanted);
    this.#runners.delete(key);
    this.#runners.set(key, runner);
    runner.catch(() => this.#runners.delete(key));
    // Callers choose the limits, so there could be any number of them.
    for (const old of this.#runners.keys()) {
      if (this.#runners.size <= MAX_RUNNERS) break;
      this.#runners.delete(old);
    }
    return runner;
  }

  #bundle(folder: string): Promise<Skill> {
    const dir = join(packageRoot(), 'guest', 'programs', folder);
    const bundle =
      this.#bundles.get(folder) ??
      this.#services.read({ ref: `program/${folder}`, dir, origin: 'generated' });
    this.#bundles.set(folder, bundle);
    bundle.catch(() => this.#bundles.delete(folder));
    return bundle;
  }

  async #load({ folder, limits, mode }: Runner): Promise<Skill> {
    const skill = await this.#bundle(folder);
    const { manifest } = skill.bundle;
    const capabilities = { ...manifest.capabilities, skills: [] };
    const runner = withManifest(skill, { ...manifest, capabilities, limits, execution: [mode] });
    // That its folder has no lock says nothing: it is part of the package.
    return { ...runner, bundle: { ...runner.bundle, warnings: [] } };
  }
}

function folderOf(language: ProgramLanguage): string {
  if (Object.hasOwn(PROGRAM_LANGUAGES, language)) return PROGRAM_LANGUAGES[language];
  throw new SkillError('usage', `${JSON.stringify(language)} is not a language of programs`, {
    fix: `Use one of ${Object.keys(PROGRAM_LANGUAGES).join(', ')}.`,
  });
}

function modeOf(given: unknown): ProgramMode {
  if (given === undefined || given === 'wasm' || given === 'subprocess') return given ?? 'wasm';
  throw new SkillError(
    'usage',
    `Programs do not run as ${JSON.stringify(given)}, only as "wasm" or "subprocess"`,
    {
      fix: 'Leave out the mode, so that the program runs as wasm.',
    },
  );
}

function assertSource(source: unknown): asserts source is string {
  if (typeof source !== 'string') throw badSource('The source of a program is a text');
  // Its digest is that of its UTF-8, which has no such characters: different sources would have the same.
  if (!source.isWellFormed())
    throw new SkillError(
      'invalid_params',
      'The source of the program has a lone surrogate, which is not a character',
      {
        fix: String.raw`Write it as an escape, such as "\ud800".`,
      },
    );
  const bytes = Buffer.byteLength(source);
  if (bytes <= MAX_SOURCE_BYTES) return;
  throw badSource(`The source of the program is ${bytes} bytes; the maximum is ${MAX_SOURCE_BYTES}`);
}

/** A folder or half a name would give nothing, without a word. */
function assertPatterns(skills: unknown): void {
  const isList = Array.isArray(skills);
  const wrong: unknown = isList
    ? skills.find((one) => typeof one !== 'string' || !PATTERN.test(one))
    : skills;
  if (isList && wrong === undefined) return;
  throw new SkillError('usage', `${JSON.stringify(wrong)} is not a name or pattern of skills`, {
    fix: 'Pass a list of names such as "text/word_stats", or patterns such as "text/*".',
  });
}

function badSource(message: string): SkillError {
  return new SkillError('invalid_params', message, {
    fix: 'Pass data as input, or as files of a workspace.',
  });
}

function ownLimits({ timeout, memory, output, cpu }: ProgramLimits): Limits {
  return {
    ...(timeout === undefined ? {} : { timeout: parseDuration(timeout) }),
    ...(memory === undefined ? {} : { memory: parseSize(memory) }),
    ...(output === undefined ? {} : { output: parseSize(output) }),
    ...(cpu === undefined ? {} : { cpu: parseDuration(cpu) }),
  };
}

function treeLimits({ cpu, calls, depth }: ProgramLimits): Partial<TreeLimits> {
  return {
    ...(cpu === undefined ? {} : { cpu: parseDuration(cpu) }),
    ...(calls === undefined ? {} : { calls: count(calls, 'calls') }),
    ...(depth === undefined ? {} : { depth: count(depth, 'depth') }),
  };
}

function count(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new SkillError('usage', `The limit "${name}" is not a whole number`, {
    fix: `Pass a number as ${name}.`,
  });
}
