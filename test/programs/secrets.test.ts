/**
 * Secrets of skills that call each other, in Wasm and natively: none reaches a program, a parent or a sibling, whatever a server
 * sends back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePolicy, type Outcome, type Program, type ProgramMode } from '../../src/index.ts';
import { TestServer } from '../broker/gateway/http-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { dedent } from '../write-skill.ts';
import { writeScriptSkill } from './skills-of-tests.ts';

const CHILD = 'sk-invented-child/0123456789+abcdef';
const PARENT = 'sk-invented-parent/9876543210+fedcba';
const RULES = 'native_programs: true\nnetwork: { allow_private: ["127.0.0.1"] }';
const MODES: readonly ProgramMode[] = ['wasm', 'subprocess'];

/** Sends its key, and returns or throws what the server echoes. */
const caller = (key: string, tail: string): string => `
  export async function execute({ port, fail, header }: { port: number; fail?: boolean; header?: string }) {
    const response = await fetch(\`http://127.0.0.1:\${port}/\`, { headers: { authorization: 'Bearer ' + (header ?? process.env.${key}) } });
    const text = await response.text();
    console.log(text);
    if (fail) throw new Error(text);
    ${tail}
  }`;

/** Everything that a value could be recognized by, in the spellings that a server may use. */
function spellings(value: string): string[] {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(' '.repeat(shift) + value)
      .toString('base64')
      .slice(4, -4),
  );
  return [value, encodeURIComponent(value), ...base64];
}

function expectNone(text: string, ...values: string[]): void {
  for (const spelling of values.flatMap(spellings)) expect(text).not.toContain(spelling);
}

describe.each(MODES)('as %s', (execution) => {
  const policy = parsePolicy(RULES, { file: 'policy' });
  const env = { CHILD_KEY: CHILD, PARENT_KEY: PARENT };
  const { runtime, folder, close } = openTestRuntime({ policy, env, allowEnv: ['CHILD_KEY', 'PARENT_KEY'] });
  let server: TestServer;

  const write = (id: string, manifest: { source: string } & Record<string, unknown>): string =>
    writeScriptSkill(folder, id, { ...manifest, execution: [execution], entry: 'skill.ts' });

  beforeAll(async () => {
    server = await TestServer.start((request, response) => {
      const seen = JSON.stringify(request.headers);
      response.end(`${seen} ${Buffer.from(seen).toString('base64')} ${encodeURIComponent(seen)}`);
    });
    const network = [{ host: '127.0.0.1', port: server.port, scheme: 'http' }];
    const key = { required: true, secret: true, hosts: ['127.0.0.1'] };
    const echoes = 'return { text, key: process.env.CHILD_KEY };';
    write('keys/child', {
      source: caller('CHILD_KEY', echoes),
      capabilities: { network },
      env_vars: { CHILD_KEY: key },
    });
    write('keys/sibling', {
      source: caller('PARENT_KEY', 'return { text };'),
      capabilities: { network },
      env_vars: { PARENT_KEY: key },
    });
    write('keys/parent', {
      source: caller(
        'PARENT_KEY',
        `const got = await skills.keys.child({ port }).catch((error) => ({ text: error.message }));
       const failed = await skills.keys.child({ port, fail: true }).catch((error) => error.message + error.fix);
       const passed = await skills.keys.child({ port, header: process.env.PARENT_KEY }).catch((error) => error.message);
       return { text, got, failed, passed };`,
      ),
      capabilities: { network, skills: ['keys/child'] },
      env_vars: { PARENT_KEY: key },
    });
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await close();
  });

  async function run(language: Program['language'], source: string): Promise<Outcome> {
    const skills = ['keys/*'];
    const functions = { see: (params: unknown) => void given.push(JSON.stringify(params)) };
    const program = { language, source: dedent(source), skills, functions };
    return runtime.program(program, { port: server.port }, { execution, reject: false });
  }

  /** What programs passed to the host, before anything is removed from their outcome. */
  const given: string[] = [];

  describe.each(['typescript', 'python'] as const)(
    'a program in %s sees no secret of its skills',
    (language) => {
      const sources = {
        typescript: `
      const got = await skills.keys.child({ port: input.port });
      const failed = await skills.keys.child({ port: input.port, fail: true }).catch((e) => [e.message, e.fix]);
      const below = await skills.keys.parent({ port: input.port });
      const passed = await skills.keys.sibling({ port: input.port, header: got.key });
      const all = { got, failed, below, passed };
      await functions.see(all);
      return all;`,
        python: `
      got = skills.keys.child(port=input["port"])
      try:
          failed = skills.keys.child(port=input["port"], fail=True)
      except SkillCallError as error:
          failed = [error.message, error.fix]
      below = skills.keys.parent(port=input["port"])
      passed = skills.keys.sibling(port=input["port"], header=got["key"])
      all = {"got": got, "failed": failed, "below": below, "passed": passed}
      functions.see(all)
      return all
    `,
      };

      test('in results and errors, from any depth, in any spelling', async () => {
        server.seen.length = 0;
        given.length = 0;
        const outcome = await run(language, sources[language]);
        expect(outcome).toMatchObject({ ok: true });
        const keys = server.seen.map(({ headers }) => JSON.stringify(headers));
        // The secrets were used: otherwise nothing could have been removed.
        expect(keys.filter((text) => text.includes(CHILD)).length).toBeGreaterThan(2);
        expect(keys.some((text) => text.includes(PARENT))).toBe(true);
        expect(given).toHaveLength(1);
        expectNone(given.join(), CHILD, PARENT);
        expectNone(JSON.stringify(outcome), CHILD, PARENT);
        expect(given.join()).toContain('Bearer ***');
      });

      test('and the placeholder of one skill is of no use to another', async () => {
        // The last request is that of the sibling: it passed on the placeholder of the child.
        const last = JSON.stringify(server.seen.at(-1)?.headers);
        expectNone(last, CHILD, PARENT);
      });
    },
  );

  test('an error that a program does not catch has no secret either', async () => {
    const outcome = await run('typescript', 'await skills.keys.child({ port: input.port, fail: true })');
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expectNone(JSON.stringify(outcome), CHILD, PARENT);
  });

  test('receipts of a tree have no secret', () => {
    const receipts = runtime.audit.list({ limit: 100 });
    expect(receipts.length).toBeGreaterThan(4);
    expectNone(JSON.stringify(receipts), CHILD, PARENT);
  });
});
