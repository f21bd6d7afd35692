/**
 * A rehearsal leaves nothing behind that a skill could find.
 *
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import { rehearse } from '../../../../guest/wasm/python/cell/rehearse.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { callCell, openCell, readInstalled } from './installed.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

let before: Buffer;
let engine: Engine;

const SOURCE =
  'import sys\ndef execute(params): return [sys.modules["skill_module"].__file__, sorted(sys.modules), params]\n';

beforeAll(async () => {
  const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params): return 1' }));
  await runtime.warm(skill, { execution: 'wasm' });
  engine = readInstalled(runtime.home);
  before = Buffer.from(engine.image.memory);
  rehearse(engine);
});

test('the base image is unchanged', () => {
  expect(Buffer.from(engine.image.memory).equals(before)).toBe(true);
});

test('a skill sees what it sees without one', () => {
  const other = callCell(openCell({ engine: readInstalled(runtime.home), source: SOURCE }));
  expect(other).toEqual([expect.any(String), expect.any(Array), {}]);
  expect(callCell(openCell({ engine, source: SOURCE }))).toEqual(other);
});
