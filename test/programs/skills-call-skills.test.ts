/**
 * Ordinary skills that call skills: `capabilities.skills` in a manifest.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/index.ts';
import { DEFAULT_POLICY, parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { createRuntime } from '../../src/runtime.ts';
import { describeReach, reachOf } from '../../src/tree/reach.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { rejectionOf } from '../thrown.ts';
import { writeCommonSkills, writeScriptSkill } from './skills-of-tests.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const calls = (...skills: string[]): Record<string, unknown> => ({ capabilities: { skills } });

/** Calls itself as its parameters say: a tree of calls. */
const NODE = `interface Node { parallel: boolean; calls: Node[] }
export async function execute({ parallel, calls }: Node) {
  const made: { count: number }[] = [];
  if (parallel) made.push(...(await Promise.all(calls.map((one) => skills.tree.node(one)))));
  else for (const one of calls) made.push(await skills.tree.node(one));
  return { count: made.reduce((sum, { count }) => sum + count, 1) };
}`;

beforeAll(() => {
  writeCommonSkills(folder);
  writeScriptSkill(folder, 'math/quadruple', {
    source: `export async function execute({ n }) {
    return skills.math.double(await skills.math.double({ n }));
  }`,
    ...calls('math/double'),
  });
  writeScriptSkill(folder, 'math/curious', {
    source: `export const execute = ({ skill }) => skills[skill]({});`,
    ...calls('math/*'),
  });
  writeScriptSkill(folder, 'tree/node', { source: NODE, ...calls('tree/node') });
  writeScriptSkill(folder, 'finance/read', 'export const execute = () => ({ balance: 7 });');
  writeScriptSkill(folder, 'finance/through', {
    source: 'export const execute = () => skills.finance.read({});',
    ...calls('finance/read'),
  });
  writeScriptSkill(folder, 'web/send', {
    source: 'export const execute = (params) => params;',
    ...{
      capabilities: { network: [{ host: 'evil.example' }] },
    },
  });
});

const run = (skill: string, params: unknown = {}): Promise<Outcome> =>
  runtime.execute(skill, params, { reject: false });

describe('a skill that declares skills', () => {
  test('calls them, and its outcome lists the calls', async () => {
    const outcome = await run('math/quadruple', { n: 3 });
    expect(outcome).toMatchObject({ ok: true, result: { n: 12 } });
    expect(outcome.children?.map(({ skill, depth }) => [skill, depth])).toEqual([
      ['math/double', 1],
      ['math/double', 1],
    ]);
  });

  test('reaches nothing else: neither undeclared skills nor paths, and the denial is recorded', async () => {
    const outcome = await run('math/curious', { skill: 'text/echo' });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.capabilities.denied).toEqual([
      { capability: 'skill', asked: 'call text/echo', declared: 'not given' },
    ]);
    for (const skill of [
      'math/../text/echo',
      `${folder}/skills/text/echo`,
      'bundled:text/word_stats',
      'MATH/double',
    ])
      expect(await run('math/curious', { skill })).not.toMatchObject({ children: expect.anything() });
  });

  test('without the capability, has no global and no way to ask', async () => {
    writeScriptSkill(folder, 'math/without', 'export const execute = () => typeof skills;');
    expect(await run('math/without')).toMatchObject({
      ok: true,
      result: 'undefined',
      capabilities: { denied: [] },
    });
  });

  test('is refused where nothing carries its calls: without a cell', async () => {
    const dir = writeScriptSkill(folder, 'math/native', {
      source: 'export const execute = () => 1;',
      ...{
        ...calls('math/double'),
        execution: ['in_process'],
      },
    });
    const error = await rejectionOf(runtime.execute(dir, {}, { trustRemoteCode: true }));
    expect(error).toMatchObject({ code: 'unenforceable', detail: { fields: ['skills'] } });
    expect(error.fix).toContain('run the skill as wasm or subprocess');
  });

  test('says so where people look: capability set, sentences, grants', async () => {
    const skill = await runtime.load('math/quadruple');
    const rows = await runtime.explain(skill);
    expect(rows).toContainEqual(expect.objectContaining({ capability: 'skill', declared: 'math/double' }));
    writeScriptSkill(folder, 'math/bad', {
      source: 'export const execute = () => 1;',
      ...calls('../escape'),
    });
    expect((await rejectionOf(runtime.load('math/bad'))).code).toBe('manifest_invalid');
  });
});

describe('the reach of a skill', () => {
  test('lists what the skills that it may call ask for, and those that they may call, each once', async () => {
    writeScriptSkill(folder, 'web/through', {
      source: 'export const execute = () => 1;',
      ...calls('web/send', 'web/through', 'finance/through'),
    });
    const services = { list: () => runtime.list(), load: (ref: string) => runtime.load(ref) };
    const reach = await reachOf(await runtime.load('web/through'), services);
    expect(reach.map(describeReach).toSorted()).toEqual([
      'through finance/through → finance/read: asks for nothing',
      'through finance/through: skill finance/read',
      'through web/send: network evil.example',
    ]);
    expect(await reachOf(await runtime.load('math/double'), services)).toEqual([]);
  });
});

describe('a tree of calls', () => {
  interface Node {
    parallel: boolean;
    calls: Node[];
  }
  const nodeAt = (depth: number): fc.Arbitrary<Node> =>
    fc.record({
      parallel: fc.boolean(),
      calls: depth === 3 ? fc.constant([]) : fc.array(nodeAt(depth + 1), { maxLength: 3 }),
    });
  const sizeOf = ({ calls: below }: Node): number => below.reduce((sum, one) => sum + sizeOf(one), 1);

  test('always ends, whatever its shape and the number of slots', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(nodeAt(0), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (roots, maxConcurrent) => {
          await using small = createRuntime({
            home: `${folder}/home`,
            cwd: folder,
            pool: { maxConcurrent },
            audit: false,
          });
          const outcomes = await Promise.all(roots.map((root) => small.execute('tree/node', root)));
          expect(outcomes.map(({ result }) => (result as { count: number }).count)).toEqual(
            roots.map(sizeOf),
          );
          expect(small.running).toEqual([]);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('is at most four calls deep; the call that is too deep is an exception', async () => {
    const chain = (length: number): Node => ({
      parallel: false,
      calls: length === 1 ? [] : [chain(length - 1)],
    });
    expect(await run('tree/node', chain(4))).toMatchObject({ ok: true, result: { count: 4 } });
    const outcome = await run('tree/node', chain(5));
    expect(outcome).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('at most 3 calls above') },
    });
  });
});

describe('permissions of a tree', () => {
  test('do not grow while it runs, and shrink at once', async () => {
    const open = DEFAULT_POLICY;
    const closed: OperatorPolicy = {
      ...open,
      skills: [{ match: 'math/double', decision: 'deny', requireSignature: false }],
    };
    let policy = open;
    await using live = createRuntime({ home: `${folder}/live`, cwd: folder, policy: () => policy });
    const source = `await skills.math.double({ n: 1 }); await functions.close({});
      return skills.math.double({ n: 1 }).then(() => 'allowed', (e) => e.code);`;
    const functions = { close: () => void (policy = closed) };
    const program = { language: 'typescript', source, skills: ['math/*'], functions } as const;
    expect((await live.program(program)).result).toBe('untrusted');
    policy = { ...open, network: { allow: ['other.example'] } };
    const widening = {
      language: 'typescript',
      skills: ['web/send'],
      source: `await functions.open({}); return 1 + (await skills.web.send({ n: 1 })).n;`,
      functions: { open: () => void (policy = open) },
    } as const;
    const outcome = await live.program(widening);
    const [child] = outcome.children ?? [];
    const opened = await live.execute('web/send', { n: 1 });
    const grantOf = (id = ''): string | undefined => live.audit.show(id)?.receipt.grant_digest;
    expect(outcome.result).toBe(2);
    expect(grantOf(child?.call_id)).not.toBe(grantOf(opened.call_id));
  });

  test('forbid data of some skills to leave through others, also when it comes through a skill between', async () => {
    const policy = parsePolicy('flows: [{ from: "finance/*", hosts: [] }]', { file: 'policy' });
    await using strict = createRuntime({ home: `${folder}/flows`, cwd: folder, policy });
    const skills = ['finance/*', 'web/send', 'text/echo'];
    const after = async (first: string): Promise<Outcome> =>
      strict.program({
        ...({ language: 'typescript', skills } as const),
        source: `await ${first}; return skills.web.send({ n: 1 }).then(() => 'sent', (e) => e.code);`,
      });
    expect(await after('skills.finance.read({})')).toMatchObject({ result: 'capability_denied' });
    expect(await after('skills.finance.through({})')).toMatchObject({ result: 'capability_denied' });
    expect(await after('skills.text.echo({})')).toMatchObject({
      result: 'sent',
      flows: [{ to: 'web/send', from: ['text/echo'] }],
    });
  });
});
