/**
 * The same work as a program in TypeScript and in Python: files of a workspace, read by one skill, counted by another in
 * parallel. Each call inside has its own grant, and a denied one is an error that the program catches.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import type { Outcome, Program } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { clientOf } from '../mcp/project.ts';
import { dedent } from '../write-skill.ts';
import { writeScriptSkill } from './skills-of-tests.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const workspace = join(folder, 'workspace');
mkdirSync(workspace);
const FILES = { 'a.txt': 'to be or not', 'b.txt': 'to be', 'c.txt': 'that is the question' };
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text);

const NAME_PARAMS = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const READS = `import { readFile } from 'skillcell:fs';
  export const execute = async ({ name }: { name: string }) => ({ text: await readFile(name, 'utf8') });`;
writeScriptSkill(folder, 'files/read', {
  source: READS,
  parameters: NAME_PARAMS,
  outputs: { text: { type: 'string' } },
  capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] },
});
/** The same code without the permission. */
writeScriptSkill(folder, 'files/read_denied', { source: READS, parameters: NAME_PARAMS });
writeScriptSkill(folder, 'words/count', {
  source: 'export const execute = ({ text }: { text: string }) => ({ words: text.split(" ").length });',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  outputs: { words: { type: 'integer' } },
});
const SKILLS = ['files/*', 'words/*'];

interface Written {
  language: Program['language'];
  /** Counts the words of the files. */
  counts: string;
  /** The same, and goes on after a denied call. */
  careful: string;
}

const PROGRAMS: Written[] = [
  {
    language: 'typescript',
    counts: `
      const texts = await Promise.all(input.names.map((name: string) => skills.files.read({ name })));
      const counts = await Promise.all(texts.map(({ text }) => skills.words.count({ text })));
      return { words: counts.reduce((sum, { words }) => sum + words, 0) };
    `,
    careful: `
      const caught = await skills.files.read_denied({ name: input.names[0] }).catch((error) => error.code);
      const texts = await Promise.all(input.names.map((name: string) => skills.files.read({ name })));
      const counts = await Promise.all(texts.map(({ text }) => skills.words.count({ text })));
      return { words: counts.reduce((sum, { words }) => sum + words, 0), caught };
    `,
  },
  {
    language: 'python',
    counts: `
      import asyncio
      texts = await asyncio.gather(*[skills.files.read(name=name) for name in input["names"]])
      counts = await asyncio.gather(*[skills.words.count(text=one["text"]) for one in texts])
      return {"words": sum(one["words"] for one in counts)}
    `,
    careful: `
      import asyncio
      try:
          await skills.files.read_denied(name=input["names"][0])
      except SkillCallError as error:
          caught = error.code
      texts = await asyncio.gather(*[skills.files.read(name=name) for name in input["names"]])
      counts = await asyncio.gather(*[skills.words.count(text=one["text"]) for one in texts])
      return {"words": sum(one["words"] for one in counts), "caught": caught}
    `,
  },
];
const input = { names: Object.keys(FILES).map((name) => `/workspace/${name}`) };

function run(language: Program['language'], source: string): Promise<Outcome> {
  return runtime.program({ language, source: dedent(source), skills: SKILLS }, input, {
    workspace,
    reject: false,
  });
}

describe.each(PROGRAMS)('a program in $language', ({ language, counts, careful }) => {
  test('reads three files by a skill, counts words by another, and returns the sum', async () => {
    const outcome = await run(language, counts);
    expect(outcome).toMatchObject({ ok: true, result: { words: 10 } });
    const children = outcome.children ?? [];
    expect(children.map(({ skill, code }) => `${skill} ${code}`).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'files/read ok'),
      ...Array.from({ length: 3 }, () => 'words/count ok'),
    ]);
    const receipts = children.map(({ call_id }) => runtime.audit.show(call_id)?.receipt);
    for (const receipt of receipts)
      expect(receipt).toMatchObject({ parent: outcome.call_id, root: outcome.call_id, depth: 1 });
    const root = runtime.audit.show(outcome.call_id)?.receipt;
    const grants = new Set(receipts.map((receipt) => `${receipt?.skill.name} ${receipt?.grant_digest}`));
    // One per skill, and neither is that of the program.
    expect(grants.size).toBe(2);
    expect(new Set([...receipts, root].map((receipt) => receipt?.grant_digest)).size).toBe(3);
    const reads = receipts.flatMap((receipt) => receipt?.used ?? []);
    expect(reads.filter(({ capability }) => capability === 'filesystem')).toHaveLength(3);
    expect(runtime.audit.verify()).toMatchObject({ ok: true });
  });

  test('catches the error of a denied call and goes on; the outcome shows it', async () => {
    const outcome = await run(language, careful);
    expect(outcome).toMatchObject({ ok: true, result: { words: 10, caught: 'capability_denied' } });
    const denied = outcome.children?.filter(({ code }) => code !== 'ok') ?? [];
    expect(denied).toMatchObject([{ skill: 'files/read_denied', code: 'capability_denied', depth: 1 }]);
    expect(runtime.audit.show(denied[0]?.call_id ?? '')?.receipt).toMatchObject({
      denied: [{ capability: 'filesystem' }],
    });
  });
});

test('both programs leave the same tree, apart from their language', async () => {
  const trees = await Promise.all(
    PROGRAMS.map(async ({ language, counts }) => {
      const { children = [] } = await run(language, counts);
      return children
        .map(({ skill, digest, code, depth }) => ({ skill, digest, code, depth }))
        .toSorted(bySkill);
    }),
  );
  expect(trees[0]).toEqual(trees[1]);
});

function bySkill({ skill: one }: { skill: string }, { skill: other }: { skill: string }): number {
  return one.localeCompare(other);
}

describe('over MCP, with the client of the SDK', () => {
  test('a model searches, gets typings, runs a program, sees progress and cancels', async () => {
    await using server = new SkillServer({ runtime, programs: true, searchOver: 1, execute: { workspace } });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = clientOf('2025-11-25');
    await server.open().connect(ours);
    await client.connect(theirs);
    for (const { language, counts } of PROGRAMS) {
      const query = { query: 'files read', limit: 2, typings: language };
      const found = await client.callTool({ name: 'skillcell_search', arguments: query });
      const { typings } = found.structuredContent as { typings: string };
      expect(typings).toMatch(/read\((?:params: \{\s*name: string|self, \/, \*, name: str)/);
      const messages: string[] = [];
      const call = { name: 'skillcell_program', arguments: { language, source: dedent(counts), input } };
      const onprogress = ({ message = '' }): void => void messages.push(message);
      expect(await client.callTool(call, { onprogress })).toMatchObject({
        content: [{ text: '{"words":10}' }],
      });
      expect(messages).toContain('calling files/read');
    }
    const controller = new AbortController();
    const source = 'for (;;) await skills.words.count({ text: "a" });';
    const work = client.callTool(
      { name: 'skillcell_program', arguments: { source } },
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await expect(work).rejects.toThrow();
    await expect.poll(() => runtime.running.length, { timeout: 60_000 }).toBe(0);
    await client.close();
  });
});
