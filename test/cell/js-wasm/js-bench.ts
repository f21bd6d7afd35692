/**
 * How tests of JavaScript skills run one and look at what came of it.
 *
 * @module
 */
import { expect } from 'vitest';
import type { ExecuteOptions, RuntimeOptions } from '../../../src/index.ts';
import type { EngineName, Failure, Mode, Outcome, Success } from '../../../src/outcome.ts';
import { dedent, writeSkill } from '../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../test-runtime.ts';

export interface JsSkill {
  source: string;
  /** Name of the file; `skill.ts` when absent. */
  entry?: string;
  manifest?: Record<string, unknown>;
  files?: Record<string, string>;
}

export interface JsBench extends TestRuntime {
  skill: (text: JsSkill | string) => string;
  /** A skill that does `body` when it is asked to, and else says that all is well. */
  skillThat: (body: string, manifest?: Record<string, unknown>) => string;
  run: (dir: string, params?: unknown, options?: ExecuteOptions) => Promise<Outcome>;
  succeed: (dir: string, params?: unknown, options?: ExecuteOptions) => Promise<Success>;
  /** Runs what must fail, and shows that the next call of the same skill is none the worse for it. */
  fail: (dir: string, options?: ExecuteOptions) => Promise<Failure>;
}

/** Which of the engines for JavaScript. */
export interface JsPlace {
  mode: Mode;
  engine: EngineName;
}

const IN_WASM: JsPlace = { mode: 'wasm', engine: 'js-wasm' };

export function openJsBench(options: RuntimeOptions = {}, place: JsPlace = IN_WASM): JsBench {
  const opened = openTestRuntime(options);
  const { runtime, folder } = opened;
  const skill = (text: JsSkill | string): string => {
    const {
      source,
      entry = 'skill.ts',
      manifest = {},
      files = {},
    } = typeof text === 'string' ? { source: text } : text;
    return writeSkill(folder, {
      manifest: { execution: [place.mode], ...manifest },
      files: { [entry]: dedent(source), ...files },
    });
  };
  const run: JsBench['run'] = async (dir, params = {}, rest = {}) => {
    const loaded = await runtime.load(dir);
    // A start takes long on a busy machine, and some tests give a call little time.
    await runtime.warm(loaded, rest);
    const outcome = await runtime.execute(loaded, params, { ...rest, reject: false });
    expect(outcome.execution).toMatchObject({ ...place, fresh: true });
    return outcome;
  };
  const succeed: JsBench['succeed'] = async (...call) => {
    const outcome = await run(...call);
    if (!outcome.ok) expect.fail(`${outcome.error.code}: ${outcome.error.message}\n${outcome.logs}`);
    return outcome;
  };
  return {
    ...opened,
    skill,
    run,
    succeed,
    skillThat: (body, manifest = {}) =>
      skill({
        source: `export async function execute(params) {\nif (!params.go) return 'fine';\n${body}\n}\n`,
        entry: 'skill.js',
        manifest,
      }),
    fail: async (dir, rest = {}) => {
      const outcome = await run(dir, { go: true }, rest);
      if (outcome.ok) expect.fail(`It succeeded: ${JSON.stringify(outcome.result)?.slice(0, 500)}`);
      expect((await succeed(dir, {}, rest)).result).toBe('fine');
      return outcome;
    },
  };
}
