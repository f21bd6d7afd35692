/**
 * Runs JavaScript skills for tests and checks their outcomes.
 *
 * @module
 */
import { expect } from 'vitest';
import type { ExecuteOptions, RuntimeOptions } from '../../../../src/index.ts';
import type { EngineName } from '../../../../src/vocabulary/engines.ts';
import type { Failure, Outcome, Success } from '../../../../src/outcome.ts';
import type { Mode } from '../../../../src/vocabulary/modes.ts';
import { dedent, writeSkill } from '../../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../../test-runtime.ts';

export interface JsSkill {
  source: string;
  /** Name of the file; defaults to `skill.ts`. */
  entry?: string;
  manifest?: Record<string, unknown>;
  files?: Record<string, string>;
}

export interface JsBench extends TestRuntime {
  skill: (text: JsSkill | string) => string;
  /** A skill that runs `body` when asked to, and otherwise returns a fixed result. */
  skillThat: (body: string, manifest?: Record<string, unknown>) => string;
  run: (dir: string, params?: unknown, options?: ExecuteOptions) => Promise<Outcome>;
  succeed: (dir: string, params?: unknown, options?: ExecuteOptions) => Promise<Success>;
  /** Runs a call that must fail, and checks that the next call of the same skill works. */
  fail: (dir: string, options?: ExecuteOptions) => Promise<Failure>;
}

/** Selects one of the JavaScript engines. */
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
    // A start may be slow on a busy machine, and some tests have short timeouts.
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
