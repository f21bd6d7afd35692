/**
 * What a skill that calls skills must get in every engine, behind every wall and start of a cell: the same results, the same
 * denials.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import type { Outcome, Runtime } from '../../src/index.ts';
import type { StartKind } from '../../src/outcome.ts';
import { writeActingSkill, type ActName, type Language } from './calling-skills.ts';

export interface SkillsUnderTest {
  language: Language;
  execution: string;
  start: StartKind;
  /** Added to the manifests. */
  manifest?: Record<string, unknown>;
  /** With the common skills in its folder. */
  opened: () => { runtime: Runtime; folder: string };
}

export function skillsContract(
  name: string,
  { language, execution, start, manifest: own = {}, opened }: SkillsUnderTest,
): void {
  describe(`a skill in ${name}`, () => contract({ language, execution, start, manifest: own, opened }));
}

function contract({ language, execution, start, manifest: own, opened }: Required<SkillsUnderTest>): void {
  const run = async (name: ActName, params: unknown = {}, manifest: object = {}): Promise<Outcome> => {
    const { runtime, folder } = opened();
    const skill = await runtime.load(
      writeActingSkill(folder, name, { language, execution, ...own, ...manifest }),
    );
    if (start !== 'cold') await runtime.warm(skill);
    return runtime.execute(skill, params, { reject: false });
  };

  test('calls others in a row, by both spellings, and its outcome lists the calls', async () => {
    const outcome = await run('in_a_row', { n: 3 });
    expect(outcome).toMatchObject({
      ok: true,
      result: { n: 12 },
      execution: { mode: execution, start },
      capabilities: {
        used: [{ capability: 'skill', asked: 'call math/double', declared: 'math/double' }],
        denied: [],
      },
    });
    expect(outcome.children?.map(({ skill, depth, code }) => [skill, depth, code])).toEqual([
      ['math/double', 1, 'ok'],
      ['math/double', 1, 'ok'],
    ]);
    const receipt = opened().runtime.audit.show(outcome.children?.[0]?.call_id ?? '')?.receipt;
    expect(receipt).toMatchObject({ parent: outcome.call_id, root: outcome.call_id, depth: 1 });
  });

  test('calls many at once', async () => {
    // Each call inside may need a new process.
    const outcome = await run('at_once', {}, { limits: { timeout: '120s' } });
    expect(outcome).toMatchObject({ ok: true, result: 6320 });
    expect(outcome.children).toHaveLength(80);
  });

  test('gets failures as exceptions with code, message and fix, and goes on', async () => {
    const outcome = await run('errors');
    const error = 'SkillCallError';
    expect(outcome).toMatchObject({
      ok: true,
      result: [
        [error, 'skill_error', 'string', 'The skill raised Error: it broke'],
        [error, 'invalid_params', 'string', expect.stringContaining("must have required property 'n'")],
        [error, 'capability_denied', 'string', expect.stringContaining('it was not given')],
      ],
      capabilities: { denied: [{ capability: 'skill', asked: 'call text/echo', declared: 'not given' }] },
    });
    expect(JSON.stringify(outcome.ok && outcome.result)).not.toContain(opened().folder);
  });

  test('reaches nothing undeclared: no other skill, no path, no alias, no function of the host', async () => {
    const outcome = await run('curious', { skill: 'text/echo' });
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'capability_denied',
        message: expect.stringContaining('it was not given') as unknown,
        detail: { capability: 'skill', asked: 'call text/echo' },
      },
      capabilities: { denied: [{ capability: 'skill', asked: 'call text/echo', declared: 'not given' }] },
    });
    expect(outcome.children ?? []).toEqual([]);
    const names = [
      'math/../text/echo',
      `${opened().folder}/skills/text/echo`,
      'bundled:text/word_stats',
      'MATH/double',
    ];
    for (const skill of names) expect((await run('curious', { skill })).children ?? []).toEqual([]);
    expect(await run('function_of_host')).toMatchObject({ ok: true, result: 'capability_denied' });
  });

  test('may call while its module loads, in each call', async () => {
    expect(await run('module_level')).toMatchObject({ ok: true, result: { n: 8 } });
  });

  test('passes large values, and is refused those that are too large', async () => {
    expect(await run('large_result', {}, { limits: { memory: '256MiB' } })).toMatchObject({
      result: 500_000,
    });
    for (const mib of [4, 7])
      expect(await run('large_params', { mib }, { limits: { memory: '256MiB' } })).toMatchObject({
        result: 'invalid_params',
      });
  });

  test('is ended by a request that no host reads', async () => {
    expect(await run('large_params', { mib: 9 }, { limits: { memory: '256MiB' } })).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'output' } },
    });
  });

  test('leaves no call behind: what it did not wait for is cancelled, also at its deadline', async () => {
    const left = await run('left_behind');
    expect(left).toMatchObject({ ok: true, result: 5 });
    expect(left.children).toContainEqual(
      expect.objectContaining({ skill: 'slow/forever', code: 'cancelled' }),
    );
    const late = await run('forever', {}, { limits: { timeout: '4s' } });
    expect(late).toMatchObject({ error: { code: 'resource_exceeded', detail: { limit: 'timeout' } } });
    expect(late.children).toMatchObject([{ code: 'cancelled' }]);
    expect(opened().runtime.running).toEqual([]);
  });
}
