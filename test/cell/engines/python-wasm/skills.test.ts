/**
 * A Python skill that calls other skills: as its manifest declares, also when its cells start from a saved image.
 */
import { afterAll, expect, test } from 'vitest';
import { createRuntime } from '../../../../src/index.ts';
import { writeScriptSkill } from '../../../programs/skills-of-tests.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { writeSkill } from '../../../write-skill.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

writeScriptSkill(folder, 'math/triple', 'export const execute = ({ n }: { n: number }) => ({ n: n * 3 });');
const manifest = { execution: ['wasm'], capabilities: { skills: ['math/triple'] } };

test('a skill calls what its manifest declares, with what its module body prepared', async () => {
  const source = `
    CALL = skills.math.triple
    SEEN = []

    def execute(params):
        SEEN.append(params["n"])
        return [CALL(n=params["n"])["n"], SEEN]
  `;
  const skill = await runtime.load(writeSkill(folder, { source, manifest }));
  for (const n of [1, 2, 3]) {
    const { result } = await runtime.execute(skill, { n });
    // The list is that of the image: nothing of an earlier call.
    expect(result).toEqual([n * 3, [n]]);
  }
});

test('a call of the module body is made by every call, and never part of an image', async () => {
  const source = `
    FIRST = skills.math.triple(n=1)["n"]

    def execute(params):
        return FIRST + skills.math.triple(n=params["n"])["n"]
  `;
  const skill = await runtime.load(writeSkill(folder, { source, manifest }));
  for (const n of [1, 2]) {
    const outcome = await runtime.execute(skill, { n });
    expect(outcome.result).toBe(3 + n * 3);
    expect(outcome.children).toHaveLength(2);
  }
});

test('an image that another process saved makes calls too, and a skill without the capability has no skills', async () => {
  const source = 'def execute(params):\n    return skills.math.triple(n=params["n"])["n"]\n';
  const dir = writeSkill(folder, { source, manifest });
  expect((await runtime.execute(await runtime.load(dir), { n: 1 })).result).toBe(3);
  await using second = createRuntime({ home: `${folder}/home`, cwd: folder });
  const outcome = await second.execute(await second.load(dir), { n: 2 });
  expect(outcome.result).toBe(6);
  const none = writeSkill(folder, { source, manifest: { ...manifest, capabilities: {} } });
  expect(await second.execute(await second.load(none), { n: 2 }, { reject: false })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("name 'skills' is not defined") },
  });
});

test('a forged request is answered like any other: what was not declared is denied', async () => {
  const source = `
    from _skillcell import protocol

    def ask(op, args, payload=b"{}"):
        answer, _ = protocol.ask(op, args, payload)
        return answer.get("code") or answer["value"].get("code")

    def execute(params):
        return [
            ask("skill.call", {"name": "text/echo"}),
            ask("skill.call", {"name": ["math/triple"]}),
            ask("skill.call", {}),
            ask("skill.wait", {"calls": ["x"]}),
            ask("skill.wait", {"timeout_ms": -1}),
            ask("skill.wait", {}),
            ask("skill.cancel", {"call": 99}),
            ask("skill.everything", {}),
        ]
  `;
  const skill = await runtime.load(writeSkill(folder, { source, manifest }));
  const { result } = await runtime.execute(skill, {});
  expect(result).toEqual(['capability_denied', 'inval', 'inval', 'inval', 'inval', 'inval', null, 'nosys']);
});
