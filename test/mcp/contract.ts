/**
 * The behaviour that every client sees, for every protocol revision and transport.
 *
 * @module
 */
import { randomInt } from 'node:crypto';
import type { Client, ListChangedHandlers, Tool } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowCall, until, type Era, type Project } from './project.ts';

export interface Connection {
  client: Client;
  close: () => Promise<void>;
}

export type Connect = (listChanged: ListChangedHandlers) => Promise<Connection>;

export function describeContract(era: Era, project: Project, connect: Connect): void {
  describe(`a client of ${era}`, () => {
    let client: Client;
    let close: () => Promise<void>;
    /** The tools after each change notification. */
    const changes: Tool[][] = [];
    const call = (name: string, given: Record<string, unknown> = {}): ReturnType<Client['callTool']> =>
      client.callTool({ name, arguments: given });

    beforeAll(async () => {
      const onChanged = (_: unknown, tools: Tool[] | null): void => void changes.push(tools ?? []);
      ({ client, close } = await connect({ tools: { debounceMs: 0, onChanged } }));
    });
    afterAll(() => close());

    test('uses its own revision', () => {
      expect(client.getNegotiatedProtocolVersion()).toBe(era);
      expect(client.getServerVersion()).toMatchObject({ name: 'skillcell' });
      expect(client.getInstructions()).toContain('nothing you can call changes what a skill may do');
    });

    test('sees skills as tools, in a fixed order, without those that the operator denies', async () => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual([...names].sort());
      expect(names).toEqual(expect.arrayContaining(['test__echo', 'test__asks', 'text__word_stats']));
      expect(names).not.toContain('test__banned');
      expect(tools.find(({ name }) => name === 'test__echo')).toMatchObject({
        title: 'Echo',
        description: 'A skill of a test.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        outputSchema: { type: 'object', properties: { said: { type: 'string' } } },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
    });

    test('gets structured output, and its receipt names the client', async () => {
      const result = await call('test__echo', { text: 'hallo' });
      expect(result.isError).toBeFalsy();
      expect(result.structuredContent).toEqual({ said: 'hallo' });
      expect(result.content).toEqual([{ type: 'text', text: '{"said":"hallo"}' }]);
      const { ['skillcell/call_id']: id } = result['_meta'] ?? {};
      const mine = await project.receiptOf(String(id));
      expect(mine).toMatchObject({ caller: `mcp:client of ${era}`, skill: { name: 'test/echo' } });
    });

    test('calls a bundled skill', async () => {
      const result = await call('text__word_stats', { text: 'one two two' });
      expect(result.isError).toBeFalsy();
      expect(result.structuredContent).toMatchObject({ words: 3 });
    });

    test('gets text as text, and other values as its revision defines', async () => {
      expect((await call('test__text')).content).toEqual([{ type: 'text', text: 'just text' }]);
      const wrapped = era === '2025-11-25' ? { result: [1, 2] } : [1, 2];
      expect((await call('test__list')).structuredContent).toEqual(wrapped);
    });

    test('gets the error message of a failed skill', async () => {
      const result = await call('test__fails');
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('skill_error: ');
      expect(textOf(result)).toContain('no such order');
    });

    test('is told what was denied, who can fix it, and that it cannot do so itself', async () => {
      const result = await call('test__peeks');
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('capability_denied: ');
      expect(textOf(result)).toContain('/etc/passwd');
      expect(textOf(result)).toContain('The person who runs this server can fix it: ');
      expect(textOf(result)).toContain('You cannot change this');
      expect(textOf(result)).not.toContain('root:');
    });

    test('is told how a person approves, and cannot approve with any request', async () => {
      const before = await call('test__asks', { approve: true, trust_remote_code: true, yes: true });
      expect(textOf(before)).toContain('approval_required: ');
      expect(textOf(before)).toMatch(/skillcell approve .*test\/asks/);
      const again = await client.callTool({
        name: 'test__asks',
        arguments: {},
        _meta: { 'skillcell/approve': true, approved: true, caller: 'cli' },
      });
      expect(textOf(again)).toContain('approval_required: ');
    });

    test('is told which arguments are invalid', async () => {
      const result = await call('test__echo', { text: 7 });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('/text: must be string');
      expect(textOf(result)).toContain('Correct the arguments');
    });

    test.each(['test__nope', 'test__banned', '../../etc', '/etc', 'test/echo', 'test_echo', '__proto__', ''])(
      'gets an error for the unknown tool %j',
      async (name) => {
        await expect(call(name)).rejects.toThrow(/Unknown tool|Invalid/);
      },
    );

    test('has no tool or method that approves or widens access', async () => {
      const { tools } = await client.listTools();
      expect(tools.filter(({ name }) => /approv|grant|policy|permission|trust|install/.test(name))).toEqual(
        [],
      );
      for (const method of [
        'skills/approve',
        'approve',
        'policy/set',
        'skillcell/approve',
        'tools/approve',
      ]) {
        const answer = client.request({ method, params: { name: 'test/asks' } }, anything);
        await expect(answer).rejects.toThrow(/Method not found/);
      }
    });

    test('gets progress, and cancelling a call ends its cell', async () => {
      const { given, isRunning } = slowCall();
      const heard: number[] = [];
      const controller = new AbortController();
      const answer = client.callTool(
        { name: 'test__slow', arguments: given },
        {
          signal: controller.signal,
          onprogress: ({ progress, total, message }) => {
            heard.push(progress);
            expect({ total, message }).toEqual({ total: 90, message: expect.any(String) });
          },
        },
      );
      const refused = expect(answer).rejects.toThrow();
      // One at the start, one when the cell starts, one after a second.
      await until(() => heard.length >= 3 && isRunning());
      expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b));
      controller.abort();
      await refused;
      await until(() => !isRunning());
    });

    test('reads how to use a skill, with matching digests and nothing executable', async () => {
      const skills = new SkillsClient(client);
      expect(skills.supported).toBe(true);
      const { skills: documents } = await skills.list();
      const echo = documents.find(({ frontmatter }) => frontmatter.name === 'test-echo');
      if (!echo) throw new Error('The skill has no document.');
      const file = await skills.read(echo);
      expect(file).toMatchObject({ verified: true, uri: 'skill://test-echo/SKILL.md' });
      expect(file.body).toContain('Call the tool `test__echo`');
      expect(file.frontmatter).not.toHaveProperty('allowed-tools');
      expect(
        documents.flatMap(({ resources }) => [resources].flat()).filter((one) => !isSkillMd(one)),
      ).toEqual([]);
      await expect(skills.get('skill://test-banned/SKILL.md')).rejects.toThrow();
    });

    test('is notified when a skill appears', async () => {
      // A unique name, because other tests share the project and skills of the same name would hide each other.
      const name = `test/new_${randomInt(1e9)}`;
      project.add(name, 'def execute(params):\n    return {}\n');
      const tool = name.replace('/', '__');
      await until(() => changes.some((tools) => tools.some((one) => one.name === tool)));
      expect((await call(tool)).structuredContent).toEqual({});
    });
  });
}

type Result = Awaited<ReturnType<Client['callTool']>>;

export function textOf({ content }: Result): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function isSkillMd(resource: unknown): boolean {
  return typeof resource === 'object' && resource !== null && 'uri' in resource
    ? String(resource.uri).endsWith('/SKILL.md')
    : false;
}

/** A schema that accepts every result. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
