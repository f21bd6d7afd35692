/**
 * Source is inspected by the Python that runs it, which in Wasm is newer than on many systems.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

/** Syntax of Python 3.12 and of 3.14. */
const SOURCE = `
  import os
  type Number = int
  def first[T](items: list[T]) -> T:
      return items[0]
  def execute(params):
      template = t"{os.environ.get("NEWER_SYNTAX", 'none')} here"
      try:
          first([])
      except IndexError, KeyError:
          return [template.strings[1], first([Number.__name__])]
`;

test('a skill that runs only in Wasm may use the syntax of its Python', async () => {
  const manifest = { execution: ['wasm'], env_vars: { NEWER_SYNTAX: {} } };
  const skill = writeSkill(folder, { source: SOURCE, manifest });
  expect((await runtime.execute(skill, {})).result).toEqual([' here', 'Number']);
});

test('source with newer syntax is still compared with the manifest', async () => {
  const skill = writeSkill(folder, { source: SOURCE, manifest: { execution: ['wasm'] } });
  const outcome = await runtime.execute(skill, {}, { reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'manifest_drift' } });
  expect(outcome.ok || outcome.error.message).toContain('NEWER_SYNTAX');
});

test('source that is not valid Python is refused', async () => {
  const skill = writeSkill(folder, {
    source: 'def execute(params):\n    return (\n',
    manifest: { execution: ['wasm'] },
  });
  expect(await runtime.execute(skill, {}, { reject: false })).toMatchObject({ ok: false });
});
