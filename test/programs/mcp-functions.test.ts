/**
 * Tools of an MCP client of the host, as functions of a program: with the client and the server of the SDK.
 */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Outcome, Program } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { rejectionOf } from '../thrown.ts';
import { dedent } from '../write-skill.ts';

const { runtime, close } = openTestRuntime();
const issues: string[] = [];
let client: Client;

async function connect(server: McpServer): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const made = new Client({ name: 'test', version: '1.0.0' });
  await server.connect(theirs);
  await made.connect(ours);
  return made;
}

function serverWith(...names: string[]): McpServer {
  const server = new McpServer({ name: 'plain', version: '1.0.0' });
  const text = { content: [{ type: 'text' as const, text: 'done' }] };
  for (const name of names) server.registerTool(name, { inputSchema: z.object({}) }, async () => text);
  return server;
}

beforeAll(async () => {
  const server = new McpServer({ name: 'github', version: '1.0.0' });
  server.registerTool(
    'create-issue',
    {
      description: 'Opens an issue.',
      inputSchema: z.object({ title: z.string() }),
      outputSchema: z.object({ number: z.number() }),
    },
    async ({ title }) => {
      const structuredContent = { number: issues.push(title) };
      return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
    },
  );
  server.registerTool('read', { inputSchema: z.object({ path: z.string() }) }, async ({ path }) => ({
    content: [{ type: 'text', text: `text of ${path}` }],
  }));
  server.registerTool('fail', { inputSchema: z.object({}) }, async () => ({
    isError: true,
    content: [{ type: 'text', text: 'no such repository' }],
  }));
  client = await connect(server);
});

afterAll(async () => {
  await client.close();
  await close();
});

function run(language: Program['language'], source: string, more: Partial<Program> = {}): Promise<Outcome> {
  const program = { language, source: dedent(source), mcp: { github: client }, ...more };
  return runtime.program(program, {}, { reject: false });
}

const sources = {
  typescript: `
    const { number } = await functions.github_create_issue({ title: 'One' });
    const text = await functions.github_read({ path: 'a.txt' });
    const wrong = await functions.github_create_issue({ title: 5 }).catch((error) => error.code);
    const failed = await functions.github_fail({}).catch((error) => [error.code, error.message]);
    return { number, text, wrong, failed };`,
  python: `
    number = functions.github_create_issue(title="One")["number"]
    text = functions.github_read(path="a.txt")
    try:
        functions.github_create_issue(title=5)
    except SkillCallError as error:
        wrong = error.code
    try:
        functions.github_fail()
    except SkillCallError as error:
        failed = [error.code, error.message]
    return {"number": number, "text": text, "wrong": wrong, "failed": failed}
  `,
};

describe.each(['typescript', 'python'] as const)('a program in %s', (language) => {
  test('calls tools of a client with checked parameters, and gets their results and errors', async () => {
    issues.length = 0;
    expect(await run(language, sources[language])).toMatchObject({
      ok: true,
      result: {
        number: 1,
        text: 'text of a.txt',
        wrong: 'invalid_params',
        failed: ['skill_error', 'The tool "fail" failed: no such repository'],
      },
    });
    // The wrong call did not reach the server.
    expect(issues).toEqual(['One']);
  });
});

test('a tool that was not listed is denied', async () => {
  expect(await run('typescript', 'return functions.github_delete({})')).toMatchObject({
    error: { code: 'capability_denied' },
  });
});

describe('names that collide are refused before anything runs', () => {
  const errorOf = async (given: Partial<Program>): Promise<unknown> =>
    rejectionOf(run('typescript', 'return 1', given));

  test('within a server', async () => {
    const other = await connect(serverWith('a-b', 'a.b'));
    expect(await errorOf({ mcp: { x: other } })).toMatchObject({
      code: 'usage',
      message: 'Two functions have the name "x_a_b": the tool "a-b" of x, and the tool "a.b" of x',
    });
    await other.close();
  });

  test('between servers, and with a function of the host', async () => {
    const one = await connect(serverWith('b_c'));
    const two = await connect(serverWith('c'));
    expect(await errorOf({ mcp: { a: one, a_b: two } })).toMatchObject({ code: 'usage' });
    const functions = { a_b_c: () => 1 };
    expect(await errorOf({ mcp: { a: one }, functions })).toMatchObject({
      message: 'Two functions have the name "a_b_c": functions.a_b_c, and the tool "b_c" of a',
    });
    await Promise.all([one.close(), two.close()]);
  });

  test('and so are names of clients that no program can write, and clients that do not answer', async () => {
    expect(await errorOf({ mcp: { '9x': client } })).toMatchObject({ code: 'usage' });
    const server = serverWith('c');
    server.server.setRequestHandler('tools/list', () => {
      throw new Error('out of order');
    });
    const broken = await connect(server);
    expect(await errorOf({ mcp: { broken } })).toMatchObject({ code: 'skill_unavailable' });
    await broken.close();
  });
});
