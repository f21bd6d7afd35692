/**
 * What every adapter promises, whatever the framework: the real framework runs an agent whose model is scripted.
 *
 * @module
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdapterOptions } from '../../src/adapters/skill-tools.ts';
import { createRuntime, parsePolicy, type Outcome, type Runtime } from '../../src/index.ts';
import { slowCall, until } from '../mcp/project.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

/** What the scripted model does in its first turn. In its second it says `FINAL`. */
export interface Turn {
  tool: string;
  args: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface Seen {
  /** Names of the tools that the framework offered to the model. */
  tools: string[];
  /** The schema of the called tool as the model got it. */
  schema: unknown;
  /** What the model read as the result of its call. */
  read: string;
  /** Whether the framework marked the result as an error; undefined where it has no such mark. */
  isError: boolean | undefined;
  /** The id of the receipt as a program finds it in the framework's own objects. */
  callId: unknown;
  /** What the agent said in the end. */
  text: string;
}

export const FINAL = 'That is all.';

/** Runs an agent of the framework. */
export type Ask = (runtime: Runtime, options: AdapterOptions, turn: Turn) => Promise<Seen>;

export interface AdapterContract {
  ask: Ask;
  /** The schema as the framework passes it on, where that differs from the manifest's. */
  schema?: Record<string, unknown>;
}

export const PARAMETERS: Record<string, unknown> = {
  type: 'object',
  properties: { text: { type: 'string', description: 'Any text.' }, times: { type: 'integer', minimum: 1 } },
  required: ['text'],
  additionalProperties: false,
};

function writeSkills(folder: string): void {
  const add = (id: string, source: string, manifest: Record<string, unknown> = {}): string =>
    writeSkill(folder, { id, source, manifest: { execution: ['subprocess'], ...manifest } });
  add('agent/echo', 'def execute(params):\n    return {"said": params["text"] * params.get("times", 1)}\n', {
    parameters: PARAMETERS,
  });
  add('agent/fails', 'def execute(params):\n    raise ValueError("no such order")\n');
  add('agent/peeks', 'def execute(params):\n    return open("/etc/passwd").read()\n');
  add('agent/asks', 'def execute(params):\n    return {}\n');
  add('agent/no_object', 'def execute(params):\n    return {}\n', { parameters: { type: 'string' } });
  add('other/idle', 'def execute(params):\n    return {}\n');
  add(
    'agent/slow',
    'import subprocess\ndef execute(params):\n    subprocess.run(["sleep", params["seconds"]])\n',
    {
      parameters: { type: 'object', properties: { seconds: { type: 'string' } }, required: ['seconds'] },
      limits: { timeout: '90s', processes: 4 },
    },
  );
}

export function describeAdapter(name: string, { ask, schema = PARAMETERS }: AdapterContract): void {
  describe(name, () => {
    const folder = openFolder();
    const outcomes: Outcome[] = [];
    const options: AdapterOptions = { skills: 'agent/*', onOutcome: (outcome) => outcomes.push(outcome) };
    let runtime: Runtime;
    beforeAll(() => {
      writeSkills(folder);
      runtime = createRuntime({
        home: join(folder, 'home'),
        cwd: folder,
        policy: parsePolicy('skills:\n  - { match: agent/asks, decision: ask }\n', { file: 'test.yaml' }),
        pool: { size: 0 },
      });
    });
    afterAll(async () => {
      await runtime.close();
      removeFolder(folder);
    });

    test('gives the model the schema of the skill, and its result', async () => {
      const seen = await ask(runtime, options, { tool: 'agent__echo', args: { text: 'ab', times: 2 } });
      expect(seen.schema).toMatchObject(schema);
      expect(JSON.parse(seen.read)).toEqual({ said: 'abab' });
      expect(seen.isError ?? false).toBe(false);
      expect(seen.text).toBe(FINAL);
    });

    test('tells the program which receipt the call has', async () => {
      const { callId } = await ask(runtime, options, { tool: 'agent__echo', args: { text: 'ab' } });
      expect(callId).toBe(outcomes.at(-1)?.call_id);
      const { receipt } = runtime.audit.list({ limit: 1 })[0] ?? {};
      expect(receipt).toMatchObject({ call_id: callId, caller: 'agent', code: 'ok' });
    });

    test.each([
      { skill: 'fails', args: {}, code: 'skill_error', words: /no such order/ },
      { skill: 'peeks', args: {}, code: 'capability_denied', words: /\/etc\/passwd/ },
      { skill: 'asks', args: {}, code: 'approval_required', words: /skillcell approve/ },
      { skill: 'echo', args: { text: 7 }, code: 'invalid_params', words: /text/ },
    ])(
      'answers a call of agent/$skill with its error, and the agent goes on',
      async ({ skill, args, code, words }) => {
        const seen = await ask(runtime, options, { tool: `agent__${skill}`, args });
        expect(seen.read).toContain(code);
        expect(seen.read).toMatch(words);
        expect(seen.read).not.toContain(folder);
        expect(seen.isError ?? true).toBe(true);
        expect(seen.text).toBe(FINAL);
      },
    );

    test('throws a failed call if the program asks for it', async () => {
      const failing: AdapterOptions = { ...options, onFailure: 'throw' };
      const before = outcomes.length;
      const asked = ask(runtime, failing, { tool: 'agent__fails', args: {} });
      // Some frameworks catch whatever a tool throws; none of them may show our answer for the model.
      const read = await asked.then((seen) => seen.read).catch(String);
      expect(read).toContain('no such order');
      expect(read).not.toContain('Receipt:');
      expect(outcomes).toHaveLength(before + 1);
    });

    test('kills the cell when the agent is aborted', async () => {
      const { given, isRunning } = slowCall();
      const controller = new AbortController();
      const asked = ask(runtime, options, {
        tool: 'agent__slow',
        args: given,
        signal: controller.signal,
      }).catch(String);
      await until(isRunning);
      controller.abort();
      await asked;
      await until(() => outcomes.at(-1)?.skill.name === 'agent/slow');
      expect(outcomes.at(-1)).toMatchObject({ ok: false, error: { code: 'cancelled' } });
      expect(isRunning()).toBe(false);
    });

    test('offers the skills that a pattern names, and says which of them cannot be tools', async () => {
      const skipped: string[] = [];
      const { tools } = await ask(
        runtime,
        { ...options, onSkipped: ({ ref }) => skipped.push(ref) },
        { tool: 'agent__echo', args: { text: '' } },
      );
      expect(tools.toSorted()).toEqual(
        ['asks', 'echo', 'fails', 'peeks', 'slow'].map((skill) => `agent__${skill}`),
      );
      expect(skipped).toEqual(['agent/no_object']);
    });
  });
}
