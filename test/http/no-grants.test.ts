/**
 * What a person gives to a call on the command line cannot be sent by a client.
 *
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  const source = 'def execute(params):\n    return {"ran": True}\n';
  stage = await openStage({ skills: { plain: { source } } });
});
afterAll(() => stage[Symbol.asyncDispose]());

describe('a client of the HTTP service', () => {
  it.each([
    ['grants', { write: ['/data'] }],
    ['write', ['/data']],
    ['hosts', ['a.example']],
    ['host', ['a.example']],
    ['env', ['HOME_TOKEN']],
    ['allowEnv', ['HOME_TOKEN']],
    ['programs', ['sh']],
    ['workspace', '/'],
  ])('is refused if it sends %s', async (key, value) => {
    const answer = await stage.execute('test/plain', {}, { json: { params: {}, [key]: value } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain(key);
  });

  it('is answered without them', async () => {
    expect((await stage.execute('test/plain')).status).toBe(200);
  });
});
