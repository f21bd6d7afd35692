/**
 * The skills that a runtime offers as tools.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Runtime, ToolFormat } from '../../src/index.ts';
import { offerTools } from '../../src/tools/offer.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 }, audit: false });
afterAll(close);

type Location = ReturnType<Runtime['list']>[number];

const source = 'def execute(params):\n    return params\n';
const add = (id: string, manifest: Record<string, unknown> = {}): string =>
  writeSkill(folder, { id, source, manifest });

test('the offer lists every possible tool and the reason for each skill that cannot be one', async () => {
  const fine = add('test/fine');
  const broken = add('test/broken');
  writeFileSync(join(broken, 'manifest.yaml'), 'name: [');
  add('test/text', { parameters: { type: 'string' } });
  add('test/twin');
  // A folder without a category determines only the second half of the name.
  add('twin', { name: 'test/twin' });
  // Ignores the bundled skills.
  const offered = (): Location[] => runtime.list().filter(({ dir }) => dir.startsWith(folder));
  const set = await offerTools('claude', {
    assertOffer: () => undefined,
    offered,
    load: (ref) => runtime.load(ref),
  });
  const names = set.tools.map(({ name }) => name);
  expect(names).toEqual(['test__fine']);
  const own = set.skipped.map(({ reason }) => reason);
  expect(own).toHaveLength(4);
  expect(own.join('\n')).toMatch(/manifest/);
  expect(own.join('\n')).toMatch(/not an object/);
  expect(
    own.filter((reason) => reason.includes('several skills map to the tool name test__twin')),
  ).toHaveLength(2);
  const [named, loaded] = await Promise.all([
    runtime.tools('mcp', [fine]),
    runtime.tools('mcp', [await runtime.load(fine)]),
  ]);
  expect(named.tools).toEqual(loaded.tools);
});

test('a named skill that cannot be a tool is an error, and so is an invalid format', async () => {
  const text = add('test/other', { parameters: { type: 'string' } });
  await expect(runtime.tools('openai', [text])).rejects.toMatchObject({ code: 'usage' });
  await expect(runtime.tools('morse' as ToolFormat)).rejects.toMatchObject({ code: 'usage' });
});

test('a skill of instructions only is no tool, by name or in the offer', async () => {
  const dir = join(folder, 'skills', 'style');
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    join(dir, 'SKILL.md'),
    '---\nname: style\ndescription: Use it to write well.\n---\nWrite well.\n',
  );
  await expect(runtime.tools('openai', [dir])).rejects.toThrow('it has instructions only');
  const { skipped, tools } = await runtime.tools('openai');
  expect(skipped.filter(({ reason }) => reason.includes('it has instructions only'))).toHaveLength(1);
  expect(JSON.stringify(tools)).not.toContain('write well');
});
