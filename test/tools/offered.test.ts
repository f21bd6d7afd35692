/**
 * Which skills agents and clients get to see.
 */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, type OfferOptions } from '../../src/index.ts';
import { Shelf } from '../../src/http/shelf.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { errorOf } from '../load/helpers.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));

const source = 'def execute(params):\n    return {"mine": True}\n';
const EXAMPLE = 'text/word_stats';
for (const id of ['my/one', 'my/two', EXAMPLE])
  writeSkill(join(folder, 'project'), { id, source, manifest: { name: id, execution: ['subprocess'] } });

function open(offer?: OfferOptions, project = 'project'): ReturnType<typeof createRuntime> {
  return createRuntime({ home: join(folder, 'home'), cwd: join(folder, project), audit: false, offer });
}

async function offered(offer?: OfferOptions, project?: string): Promise<string[]> {
  await using runtime = open(offer, project);
  runtime.assertOffer();
  return runtime.offered().map(({ ref }) => ref);
}

describe('a runtime offers', () => {
  test('the skills of a project and no bundled ones', async () => {
    expect(await offered()).toEqual(['my/one', 'my/two', EXAMPLE]);
  });

  test('the bundled skills if they are asked for, except one that gives way to another', async () => {
    const all = await offered({ bundled: true });
    expect(all).toEqual(expect.arrayContaining(['my/one', 'util/unit_convert']));
    expect(all.filter((ref) => ref.endsWith(EXAMPLE))).toEqual([EXAMPLE]);
    expect(await offered({ skills: ['my/one', 'bundled:util/*'] })).toEqual(['my/one', 'util/unit_convert']);
  });

  test('the bundled skills if there is nothing else', async () => {
    expect(await offered({}, 'empty')).toContain(EXAMPLE);
    expect(await offered({ skills: ['text/word_*'] }, 'empty')).toContain('text/word_stats_c');
  });

  test('only skills that match a pattern', async () => {
    expect(await offered({ skills: ['my/*'] })).toEqual(['my/one', 'my/two']);
    expect(await offered({ skills: ['my/t*', 'text/*'] })).toEqual(['my/two', EXAMPLE]);
    expect(await offered({ skills: ['*'] })).toHaveLength(3);
  });

  test.each([
    ['my/onee', 'Did you mean "my/one"?'],
    ['util/*', "To offer bundled skills, pass --skills 'bundled:util/*'"],
    ['zzz/*', 'Run `skillcell list` to see the known skills.'],
    ['bundled:my/*', 'skillcell list'],
    ['', 'skillcell list'],
  ])('an error for the pattern %j, which matches nothing', async (glob, fix) => {
    await using runtime = open({ skills: ['my/*', glob] });
    const error = errorOf(() => runtime.assertOffer());
    expect([error.code, error.fix]).toEqual(['usage', expect.stringContaining(fix)]);
    await expect(runtime.tools('mcp')).rejects.toMatchObject({ code: 'usage' });
  });
});

test('a skill of the project wins over the bundled one with a warning, and bundled:<id> is ours', async () => {
  await using runtime = open();
  const [mine, ours] = [await runtime.load(EXAMPLE), await runtime.load(`bundled:${EXAMPLE}`)];
  expect([mine.bundle.origin, ours.bundle.origin]).toEqual(['project', 'bundled']);
  expect(mine.bundle.warnings[0]).toContain(JSON.stringify(mine.bundle.sourceDir));
  expect(mine.bundle.warnings[0]).toContain(JSON.stringify(ours.bundle.sourceDir));
  expect(mine.bundle.warnings[0]).toContain(`"bundled:${EXAMPLE}"`);
  expect(ours.bundle.warnings).toEqual([]);
  expect((await runtime.execute(EXAMPLE, {})).result).toEqual({ mine: true });
});

test('a rule that allows a name does not cover a namesake of a bundled skill without approval', async () => {
  const text = 'skills: [{ match: text/*, decision: allow }, { match: "*", decision: ask }]';
  const policy = parsePolicy(text, { file: 'policy' });
  const home = join(folder, 'home');
  await using runtime = createRuntime({ home, cwd: join(folder, 'project'), audit: false, policy });
  await expect(runtime.execute(EXAMPLE, {})).rejects.toMatchObject({ code: 'approval_required' });
  const ours = await runtime.execute(`bundled:${EXAMPLE}`, { text: 'a b' });
  expect(ours.result).toMatchObject({ words: 2 });
  runtime.approvals.add((await runtime.load(EXAMPLE)).bundle, 'test');
  expect((await runtime.execute(EXAMPLE, {})).result).toEqual({ mine: true });
});

test('clients of the service can name only offered skills, also as bundled:<id>', async () => {
  await using plain = open();
  expect(() => new Shelf(plain).locate('bundled:util/unit_convert')).toThrow('Unknown skill');
  expect(() => new Shelf(plain).locate('util/unit_convert')).toThrow('Unknown skill');
  await using all = open({ bundled: true });
  expect(new Shelf(all).locate('bundled:util/unit_convert').origin).toBe('bundled');
  expect(() => new Shelf(all).locate('bundled:my/one')).toThrow('Unknown skill');
});
