/**
 * The server in this process: what it leaves out, what it notices, and what it hands on.
 *
 * @module
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport, type Client } from '@modelcontextprotocol/client';
import { propagation, trace, type Context } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { clientOf, until } from './project.ts';

/** `home` may be used by others before: then its skills need not be prepared again. */
export function describeInProcess(home: string): void {
  const folder = openFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  const runtime = createRuntime({ home, cwd: project, pool: { size: 0 } });
  const notes: string[] = [];
  const skills = new SkillServer({ runtime, searchOver: 10_000, onNote: (text) => void notes.push(text) });
  let client: Client;

  beforeAll(async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    client = clientOf('2025-11-25');
    await skills.open().connect(ours);
    await client.connect(theirs);
  });

  afterAll(async () => {
    await client.close();
    await skills.close();
    await runtime.close();
    removeFolder(folder);
  });

  const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  const add = (name: string): string =>
    writeSkill(project, { id: name, source: 'def execute(params):\n    return params\n' });

  describe('a server whose project has no skills yet', () => {
    test('notices the first, one that changes, one that breaks, and one that goes away', async () => {
      expect((await names()).filter((name) => name.startsWith('test__'))).toEqual([]);
      const dir = add('test/first');
      await until(async () => (await names()).includes('test__first'));
      const file = join(dir, 'manifest.yaml');
      writeFileSync(file, JSON.stringify({ name: 'test/first', version: '1.0.0', description: 'changed' }));
      const described = async (): Promise<boolean> =>
        (await client.listTools()).tools.some(({ description }) => description?.startsWith('changed'));
      await until(described);
      writeFileSync(file, 'name: [');
      await until(async () => !(await names()).includes('test__first'));
      expect(notes.join('\n')).toContain('The skill test/first is left out: ');
      rmSync(dir, { recursive: true });
      // A folder that comes back whole, as by an installer.
      const staged = join(folder, 'staged');
      renameSync(join(project, 'skills'), staged);
      add('test/third');
      await until(async () => (await names()).includes('test__third'));
    });

    test('leaves out a skill that can be no tool, and keeps the others', async () => {
      const manifest = { parameters: { type: 'string' } };
      writeSkill(project, {
        id: 'test/no_tool',
        manifest,
        source: 'def execute(params):\n    return params\n',
      });
      await until(() => notes.some((note) => note.includes('"test/no_tool" cannot be a tool')));
      expect(await names()).toContain('text__word_stats');
    });

    test('lets two skills of one tool name hide neither behind the other: none is listed', async () => {
      // A skill of the project with the id of a bundled one.
      const dir = add('data/csv_profile');
      await until(() =>
        notes.some((note) => note.includes('More than one skill would be the tool data__csv_profile')),
      );
      expect(notes.join('\n')).toContain(dir);
      expect(await names()).not.toContain('data__csv_profile');
      rmSync(dir, { recursive: true });
      await until(async () => (await names()).includes('data__csv_profile'));
    });
  });

  describe('the trace of a request', () => {
    const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const carriers: unknown[] = [];

    beforeAll(async () => {
      trace.setGlobalTracerProvider(new BasicTracerProvider());
      propagation.setGlobalPropagator({
        inject: () => undefined,
        fields: () => [],
        extract: (context: Context, carrier: unknown) => {
          carriers.push(carrier);
          return context;
        },
      });
      add('test/traced');
      await until(async () => (await names()).includes('test__traced'));
    });
    afterEach(() => carriers.splice(0));
    afterAll(() => {
      trace.disable();
      propagation.disable();
    });

    test.each([
      [
        'one',
        { traceparent: TRACEPARENT, tracestate: 'a=b' },
        [{ traceparent: TRACEPARENT, tracestate: 'a=b' }],
      ],
      [
        'a long one',
        { traceparent: TRACEPARENT, tracestate: 'x'.repeat(600) },
        [{ traceparent: TRACEPARENT }],
      ],
      ['nonsense', { traceparent: 'nonsense' }, []],
      ['half of one', { tracestate: 'a=b' }, []],
      ['none', {}, []],
    ])('is handed on to the call: %s', async (_, meta, expected) => {
      const result = await client.callTool({ name: 'test__traced', arguments: { a: 1 }, _meta: meta });
      expect(result.structuredContent).toEqual({ a: 1 });
      expect(carriers).toEqual(expected);
    });
  });
}
