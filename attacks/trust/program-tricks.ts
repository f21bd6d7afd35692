/**
 * How an attack by a program is written: its source, the skills that it needs, and a careless executor as its control.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Outcome, Runtime, RuntimeOptions } from '../../src/for-attacks.ts';
import { asUser, CONTROL } from '../runner/identities.ts';
import { REACHED } from '../runner/marker.ts';
import { ATTACKS_DIR } from '../runner/places.ts';
import type { Careless, TrustAttack } from './attack.ts';
import { policyOf, type TrustStage } from './stage.ts';

type Program = Parameters<Runtime['program']>[0];
type ProgramOptions = NonNullable<Parameters<Runtime['program']>[2]>;

export interface Trick {
  description: string;
  /** Sets `succeeded` in its result if it got what it must not get. */
  source: string;
  language?: Program['language'];
  skills?: readonly string[];
  functions?: (stage: TrustStage) => Program['functions'];
  options?: ProgramOptions;
  /** Of the runtime. */
  runtime?: RuntimeOptions;
  policy?: string;
  /** Writes the skills that it needs, besides `tree/echo`. */
  prepare?: (stage: TrustStage) => void;
  input?: (stage: TrustStage) => unknown;
  /** Calls inside as `skill code`, or denied acts, without which the act was not reached. */
  shows?: readonly string[];
  /** Runs the program; absent: once, to its end. */
  run?: (runtime: Runtime, program: Program, given: ProgramRun) => Promise<Outcome>;
  control: TrustAttack['control'];
}

/** The second and third argument of `runtime.program`. */
export interface ProgramRun {
  input: unknown;
  options: ProgramOptions & { reject: false };
}

const CONTROL_MS = 60_000;

export const ECHO = 'export const execute = (params) => params;';

/** The source of the skill, or its source and keys of its manifest. */
export function writeSkillAt(
  stage: TrustStage,
  id: string,
  text: string | ({ code: string } & Record<string, unknown>),
): void {
  const { code, ...manifest } = typeof text === 'string' ? { code: text } : text;
  stage.write(join(stage.project, 'skills', id), { code, manifest: { name: id, ...manifest } });
}

export const canCall = (...skills: string[]): Record<string, unknown> => ({ capabilities: { skills } });

export function trick(given: Trick): Omit<TrustAttack, 'name' | 'codes' | 'limits'> {
  const { language = 'typescript', skills = ['tree/*'], control, policy, run = runOnce } = given;
  return {
    description: given.description,
    proof: 'marker',
    didNotRun: (outcome) => missingIn(outcome, given.shows ?? []),
    attempt: async (stage): Promise<Outcome> => {
      writeSkillAt(stage, 'tree/echo', ECHO);
      given.prepare?.(stage);
      const source = marked(given.source, language);
      const program = { language, source, skills, functions: given.functions?.(stage) ?? {} };
      // The usual pool: some of these make many calls.
      const rules = policy === undefined ? {} : { policy: policyOf(policy) };
      const ways = {
        input: given.input?.(stage) ?? {},
        options: { ...given.options, reject: false },
      } as const;
      return stage.with({ pool: {}, ...rules, ...given.runtime }, (runtime) => run(runtime, program, ways));
    },
    control,
  };
}

const runOnce: NonNullable<Trick['run']> = (runtime, program, { input, options }) =>
  runtime.program(program, input, options);

/** What happened outside of the program, as its result. */
export function reported(outcome: Outcome, succeeded: boolean): Outcome {
  return outcome.ok ? { ...outcome, result: { succeeded } } : outcome;
}

/** The same, if the program itself ended with an error. */
export function harmed({ call_id, skill, usage, capabilities, logs, warnings }: Outcome): Outcome {
  return { ok: true, result: { succeeded: true }, call_id, skill, usage, capabilities, logs, warnings };
}

/** The source says in its log that it runs. */
function marked(source: string, language: Program['language']): string {
  if (source.includes(REACHED)) return source;
  return language === 'python' ? `print("${REACHED}")\n${source}` : `console.log('${REACHED}');${source}`;
}

function missingIn({ children = [], capabilities }: Outcome, shows: readonly string[]): string | undefined {
  const seen = new Set([
    ...children.map(({ skill, code }) => `${skill} ${code}`),
    ...capabilities.denied.map(({ asked }) => asked),
  ]);
  const missing = shows.filter((one) => !seen.has(one));
  return missing.length === 0
    ? undefined
    : `no sign of: ${missing.join(', ')}; seen: ${[...seen].join(', ')}`;
}

export type Tool = (params: Record<string, unknown>) => unknown;

/** What an executor without cells does with the same source. */
export const inHost =
  (
    source: string,
    tools: Record<string, Tool>,
    input: (stage: TrustStage) => unknown = () => ({}),
  ): Careless =>
  async (stage) => {
    const AsyncFunction = (async () => undefined).constructor as new (
      ...args: string[]
    ) => (...given: unknown[]) => Promise<{ succeeded?: unknown; evidence?: unknown }>;
    const call =
      (name: string): Tool =>
      async (params) =>
        tools[name]?.(params);
    const skills = new Proxy(
      {},
      {
        get: (_, category) =>
          String(category).includes('/')
            ? call(String(category))
            : new Proxy({}, { get: (__, name) => call(`${String(category)}/${String(name)}`) }),
      },
    );
    const functions = Object.fromEntries(Object.keys(tools).map((name) => [name, call(name)]));
    const result = await new AsyncFunction('input', 'skills', 'functions', source)(
      input(stage),
      skills,
      functions,
    );
    return result.succeeded === true ? `in the host, it reports ${String(result.evidence)}` : undefined;
  };

/** Tools as Python expressions. `late` is a list that they may append to. */
interface PythonTools {
  tools: Record<string, string>;
  /** Answers of calls that another program made. */
  answers?: readonly unknown[];
  /** An expression that decides at the very end. */
  atEnd?: string;
}

/** What an executor without cells does with the same source in Python: here in namespaces of its own, without network. */
export const inPythonHost =
  (source: string, { tools, answers = [], atEnd }: PythonTools, input: unknown = {}): Careless =>
  async () => {
    const order = { source, input, tools, answers, at_end: atEnd === undefined ? [] : [atEnd] };
    const namespaces = ['--user', '--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
    const program = join(ATTACKS_DIR, 'runner', 'room', 'careless_program.py');
    const host = spawn('/usr/bin/unshare', [...namespaces, '/usr/bin/python3', '-I', '-B', program], {
      ...asUser(CONTROL),
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: CONTROL_MS,
      killSignal: 'SIGKILL',
    });
    host.stdin.end(JSON.stringify(order));
    const [printed, complaint] = await Promise.all([text(host.stdout), text(host.stderr)]);
    const last = printed.trim().split('\n').at(-1) ?? '';
    if (!last.startsWith('{')) throw new Error(`The control failed: ${complaint.trim().slice(-300)}`);
    const result = JSON.parse(last) as { succeeded?: unknown; evidence?: unknown };
    return result.succeeded === true ? `in the host, it reports ${String(result.evidence)}` : undefined;
  };
