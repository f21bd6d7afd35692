/**
 * Programs over MCP, with the client of the SDK.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport, type Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { writeScriptSkill } from '../programs/skills-of-tests.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { clientOf } from './project.ts';

const LONG = 120_000;
const folder = openFolder();
const project = join(folder, 'project');
mkdirSync(project);
writeScriptSkill(project, 'math/double', 'export const execute = ({ n }: { n: number }) => ({ n: n * 2 });');
writeScriptSkill(
  project,
  'slow/forever',
  'export const execute = () => new Promise((r) => setTimeout(r, 1e6));',
);
const runtime = createRuntime({ home: join(folder, 'home'), cwd: project });
const on = new SkillServer({ runtime, programs: true });
const off = new SkillServer({ runtime });
const clients: Client[] = [];

async function connect(server: SkillServer): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = clientOf('2025-11-25');
  await server.open().connect(ours);
  await client.connect(theirs);
  clients.push(client);
  return client;
}

let client: Client;
beforeAll(async () => {
  client = await connect(on);
  await client.listTools();
}, LONG);
afterAll(async () => {
  for (const one of clients) await one.close();
  await on.close();
  await off.close();
  await runtime.close();
  removeFolder(folder);
});

const call = (given: Record<string, unknown>, options: object = {}): ReturnType<Client['callTool']> =>
  client.callTool({ name: 'skillcell_program', arguments: given }, options);

describe('the tool skillcell_program', () => {
  test('is offered only if the operator enables it', { timeout: LONG }, async () => {
    const tool = (await client.listTools()).tools.find(({ name }) => name === 'skillcell_program');
    expect(tool?.description).toContain('double');
    const other = await connect(off);
    expect((await other.listTools()).tools.map(({ name }) => name)).toEqual([
      'math__double',
      'slow__forever',
    ]);
    await expect(
      other.callTool({ name: 'skillcell_program', arguments: { source: 'return 1' } }),
    ).rejects.toThrow('Unknown tool');
  });

  test(
    'runs a program that calls the skills of the server, and reports them as progress',
    { timeout: LONG },
    async () => {
      const messages: string[] = [];
      const onprogress = ({ message = '' }: { message?: string }): void => void messages.push(message);
      const source =
        'return (await Promise.all([1, 2].map((n) => skills.math.double({ n })))).map(({ n }) => n + input.add);';
      const result = await call({ source, input: { add: 1 } }, { onprogress });
      expect(result).toMatchObject({ content: [{ text: '[3,5]' }] });
      expect(messages).toContain('calling math/double');
    },
  );

  test('takes a large source', { timeout: LONG }, async () => {
    const source = `// ${'x'.repeat(100_000)}\nreturn input;`;
    expect(await call({ source, input: 5 })).toMatchObject({ content: [{ text: '5' }] });
  });

  test(
    'reports errors of the program, of its arguments, and of what it may not call',
    { timeout: LONG },
    async () => {
      expect(await call({ source: 'throw new Error("mine")' })).toMatchObject({ isError: true });
      expect(await call({})).toMatchObject({ isError: true });
      const source = 'return skills.text.word_stats({ text: "a" }).catch((e) => e.code)';
      expect(await call({ source })).toMatchObject({ content: [{ text: 'capability_denied' }, {}] });
    },
  );

  test('is cancelled by the client, with the calls inside', { timeout: LONG }, async () => {
    const controller = new AbortController();
    const onprogress = ({ message = '' }: { message?: string }): void => {
      if (message === 'calling slow/forever') controller.abort();
    };
    const work = call({ source: 'await skills.slow.forever({})' }, { onprogress, signal: controller.signal });
    await expect(work).rejects.toThrow();
    await expect.poll(() => runtime.running.length, { timeout: LONG }).toBe(0);
    const [last] = runtime.audit.list({ limit: 1 }).map(({ receipt }) => receipt.code);
    expect(last).toBe('cancelled');
  });
});
