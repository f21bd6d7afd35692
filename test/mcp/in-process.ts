/**
 * The server in this process: skills it skips, changes it notices, traces it passes on.
 *
 * @module
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { propagation, trace, type Context } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openFolder, writeSkill } from '../write-skill.ts';
import { until } from './project.ts';
import { closeAll, connectTo } from './connect.ts';

/** `home` may have been used by other tests; its skills then need not be prepared again. */
export function describeInProcess(home: string): void {
  const folder = openFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  const runtime = createRuntime({ home, cwd: project, pool: { size: 0 }, offer: { bundled: true } });
  const notes: string[] = [];
  const skills = new SkillServer({ runtime, searchOver: 10_000, onNote: (text) => void notes.push(text) });
  let client: Client;

  beforeAll(async () => {
    client = await connectTo(skills);
  });

  afterAll(() => closeAll([client, skills, runtime], folder));

  const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  const add = (name: string): string =>
    writeSkill(project, { id: name, source: 'def execute(params):\n    return params\n' });

  describe('a server whose project has no skills yet', () => {
    test('notices a skill that is added, changed, broken or removed', async () => {
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
      expect(notes.join('\n')).toContain('Skipped the skill test/first: ');
      rmSync(dir, { recursive: true });
      // A complete folder that reappears, as an installer does it.
      const staged = join(folder, 'staged');
      renameSync(join(project, 'skills'), staged);
      add('test/third');
      await until(async () => (await names()).includes('test__third'));
    });

    test('leaves out a skill that cannot be a tool and keeps the others', async () => {
      const manifest = { parameters: { type: 'string' } };
      writeSkill(project, {
        id: 'test/no_tool',
        manifest,
        source: 'def execute(params):\n    return params\n',
      });
      await until(() => notes.some((note) => note.includes('"test/no_tool" cannot be a tool')));
      expect(await names()).toContain('text__word_stats');
    });

    test('lists neither of two skills with the same tool name', async () => {
      add('test/twin');
      // A folder without a category determines only the second half of the name.
      const source = 'def execute(params):\n    return params\n';
      const dir = writeSkill(project, { id: 'twin', manifest: { name: 'test/twin' }, source });
      await until(() =>
        notes.some((note) => note.includes('Several skills map to the tool name test__twin')),
      );
      expect(notes.join('\n')).toContain(dir);
      expect(await names()).not.toContain('test__twin');
      rmSync(dir, { recursive: true });
      await until(async () => (await names()).includes('test__twin'));
    });

    test('lists a skill of the project instead of the bundled one with the same id, and says so', async () => {
      const isFrom = async (origin: string): Promise<boolean> => {
        const tool = (await client.listTools()).tools.find(({ name }) => name === 'data__csv_profile');
        return JSON.stringify(tool ?? '').includes(`"skillcell/origin":"${origin}"`);
      };
      const dir = add('data/csv_profile');
      await until(() => isFrom('project'));
      const note = notes.find((text) => text.includes('"bundled:data/csv_profile"'));
      expect(note).toContain(JSON.stringify(dir));
      rmSync(dir, { recursive: true });
      await until(() => isFrom('bundled'));
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
    ])('is passed on to the call if it is valid: %s', async (_, meta, expected) => {
      const result = await client.callTool({ name: 'test__traced', arguments: { a: 1 }, _meta: meta });
      expect(result.structuredContent).toEqual({ a: 1 });
      expect(carriers).toEqual(expected);
    });
  });
}
