/**
 * Hostile bundles beside good ones in one service: large or hostile parts are processed in worker threads, once.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/index.ts';
import { openStage, type Stage } from '../http/stage.ts';

const ECHO = 'export const execute = (params) => params;';
/** Stays within the byte limit. */
const KEYS = `{${Array.from({ length: 12_000 }, (_, n) => `k${n.toString(36)}`).join(',')}}`;
const HOSTILE = '^(a+)+$';
const text = { type: 'object', properties: { text: { type: 'string', pattern: HOSTILE } } };
const SKILLS = {
  good: { files: { 'skill.js': ECHO }, manifest: { execution: ['wasm'] } },
  plain: {
    files: { 'skill.js': ECHO },
    manifest: {
      execution: ['wasm'],
      parameters: { type: 'object', properties: { id: { type: 'string', pattern: '^[a-z0-9_-]{1,64}$' } } },
    },
  },
  keys: { files: { 'skill.js': ECHO, 'manifest.yaml': KEYS } },
  large: {
    files: { 'skill.js': ECHO, 'data.txt': 'x'.repeat(2 * 1024 * 1024) },
    manifest: { execution: ['wasm'] },
  },
  params: { files: { 'skill.js': ECHO }, manifest: { execution: ['wasm'], parameters: text } },
  outputs: { files: { 'skill.js': ECHO }, manifest: { execution: ['wasm'], outputs: text.properties } },
  slow: {
    source: 'import time\ndef execute(params):\n    time.sleep(3)\n    return 1',
    manifest: { execution: ['subprocess'] },
  },
};
const BAD_TEXT = `${'a'.repeat(60)}!`;

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ skills: SKILLS, limits: { tenants: { acme: { concurrent: 1, queue: 5 } } } });
});
afterAll(() => stage[Symbol.asyncDispose]());

const done = (task: string): number => stage.runtime.offloaded.done[task] ?? 0;
const list = async (): Promise<unknown> => (await stage.ask('/v1/skills', { as: 'reader' })).json();
const outcomeOf = async (response: Promise<Response>): Promise<Outcome> =>
  (await response).json() as Promise<Outcome>;

describe('a service with hostile bundles', () => {
  test('parses a large manifest in a worker thread, and a failed one again only after a change', async () => {
    await list();
    // Two were too large for the event loop.
    expect(done('readSource')).toBe(2);
    const listing = JSON.stringify(await list());
    expect(done('readSource')).toBe(2);
    expect(listing).toContain('test/keys');
    const refused = await outcomeOf(stage.execute('test/keys'));
    expect(refused).toMatchObject({ ok: false, error: { code: 'manifest_invalid' } });
    expect(done('readSource')).toBe(2);
    appendFileSync(join(stage.folder, 'skills/test/keys/manifest.yaml'), '\n# touched\n');
    await expect.poll(async () => (await list(), done('readSource'))).toBe(3);
  });

  test('refuses a mapping with too many keys and says so', async () => {
    const refused = await outcomeOf(stage.execute('test/keys'));
    expect(refused.ok ? '' : refused.error.message).toContain('more than 5000 keys');
  });

  test.each(['params', 'outputs'])('matches a hostile pattern of %s in a worker thread', async (skill) => {
    const before = done('checkValue');
    const outcome = await outcomeOf(stage.execute(`test/${skill}`, { text: BAD_TEXT }));
    expect(outcome.ok).toBe(false);
    // On a busy machine, the pattern can be stopped before it has used up its processor time.
    expect(JSON.stringify(outcome)).toMatch(/takes too long|machine is too busy/);
    expect(done('checkValue')).toBe(before + 1);
    expect(await outcomeOf(stage.execute('test/good', { n: 1 }))).toMatchObject({
      ok: true,
      result: { n: 1 },
    });
  });

  test('checks quick inputs on its own thread', async () => {
    const before = stage.runtime.offloaded.done;
    expect(await outcomeOf(stage.execute('test/plain', { id: 'a-b_1' }))).toMatchObject({ ok: true });
    const refused = await outcomeOf(stage.execute('test/plain', { id: 'A b' }));
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    expect(stage.runtime.offloaded.done).toEqual(before);
  });

  test('reads a skill in the turn of its call and not before', async () => {
    appendFileSync(join(stage.folder, 'skills/test/large/data.txt'), 'y');
    // The listing of a folder is cached for a second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const first = stage.execute('test/slow');
    await expect.poll(() => stage.runtime.running.length).toBe(1);
    const before = done('readSource');
    const second = outcomeOf(stage.execute('test/large', { n: 2 }));
    await expect.poll(() => stage.runtime.running.length).toBe(2);
    expect(done('readSource')).toBe(before);
    expect((await first).status).toBe(200);
    expect(await second).toMatchObject({ ok: true, result: { n: 2 } });
    expect(done('readSource')).toBe(before + 1);
  });
});
