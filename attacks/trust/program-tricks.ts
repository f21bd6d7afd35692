/**
 * How an attack by a program is written: its source, the skills that it needs, and a careless executor as its control.
 *
 * @module
 */
import { join } from 'node:path';
import type { Outcome, Runtime } from '../../src/for-attacks.ts';
import type { Careless, TrustAttack } from './attack.ts';
import { policyOf, type TrustStage } from './stage.ts';

type Program = Parameters<Runtime['program']>[0];
type ProgramOptions = NonNullable<Parameters<Runtime['program']>[2]>;

interface Trick {
  description: string;
  /** Sets `succeeded` in its result if it got what it must not get. */
  source: string;
  skills?: readonly string[];
  functions?: Program['functions'];
  options?: ProgramOptions;
  policy?: string;
  /** Writes the skills that it needs, besides `tree/echo`. */
  prepare?: (stage: TrustStage) => void;
  input?: (stage: TrustStage) => unknown;
  control: TrustAttack['control'];
}

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
  const { description, source, skills = ['tree/*'], functions = {}, control, policy } = given;
  return {
    description,
    attempt: async (stage): Promise<Outcome> => {
      writeSkillAt(stage, 'tree/echo', ECHO);
      given.prepare?.(stage);
      const program = { language: 'typescript', source, skills, functions } as const;
      // The usual pool: some of these make many calls.
      const options = { pool: {}, ...(policy === undefined ? {} : { policy: policyOf(policy) }) };
      return stage.with(options, (runtime) =>
        runtime.program(program, given.input?.(stage) ?? {}, { ...given.options, reject: false }),
      );
    },
    control,
  };
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
      (params) =>
        Promise.resolve(tools[name]?.(params));
    const skills = new Proxy(
      {},
      {
        get: (_, category) =>
          new Proxy({}, { get: (__, name) => call(`${String(category)}/${String(name)}`) }),
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
