/**
 * gVisor, for skills that ask for it: a kernel of its own stands between the skill and that of the host.
 *
 * @module
 */
import { release } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outcome } from '../../../src/outcome.ts';
import { writeSkill } from '../../write-skill.ts';
import type { TestRuntime } from '../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const SOURCE = `
  import os
  def execute(params):
      if params:
          held = bytearray(b"x") * (600 << 20)
      return {"kernel": os.uname().release, "uid": os.getuid(), "pid": os.getpid()}
`;

let opened: TestRuntime;
beforeAll(async () => void (opened = await openContainerRuntime('runsc', { pool: { size: 0 } })), 180_000);
afterAll(() => opened.close());

function run(params: unknown, manifest: Record<string, unknown> = {}): Promise<Outcome> {
  const container = { image: BASE_IMAGE, runtime: 'runsc' };
  const dir = writeSkill(opened.folder, {
    manifest: { ...IN_CONTAINER, container, ...manifest },
    source: SOURCE,
  });
  return opened.runtime.execute(dir, params, { reject: false });
}

test('the skill meets another kernel', async () => {
  const outcome = await run({});
  expect(outcome).toMatchObject({ ok: true, result: { uid: 65_534, pid: 1 } });
  expect(outcome.ok && outcome.result).not.toMatchObject({ kernel: release() });
});

test('memory is that of the sandbox as a whole', async () => {
  const error = { code: 'resource_exceeded', detail: { limit: 'memory' } };
  expect(await run({ big: true })).toMatchObject({ ok: false, error });
});

test('what it does not count is refused', async () => {
  const outcome = await run({}, { limits: { processes: 4 } });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'unenforceable' } });
});

test('a skill that does not name it is not given it', async () => {
  const dir = writeSkill(opened.folder, { manifest: IN_CONTAINER, source: SOURCE });
  const outcome = await opened.runtime.execute(dir, {}, { reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
});
