import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Delivery } from '../../../src/distribution/contract.ts';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { OciSource } from '../../../src/distribution/oci/source.ts';
import { SkillError } from '../../../src/errors.ts';
import { serve, type TestServer } from '../http/support.ts';
import { folderPerTest } from '../../test-folder.ts';
import type { Lie } from './lie.ts';
import { LIES } from './lies.ts';
import { honestScene, NAME, serveScene, TAG, type Scene } from './registry.ts';

const folder = folderPerTest();
const LIMITS = { totalMs: 20_000, silenceMs: 5000, retries: 0 };
const CREDENTIALS = { username: 'demo', password: 'invented-password' };
const before = process.env['TMPDIR'];

beforeEach(() => void (process.env['TMPDIR'] = folder.path));
afterEach(() => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
});

async function sceneWith(
  lie: Pick<Lie, 'tell'>,
): Promise<{ scene: Scene; elsewhere: TestServer; host: string }> {
  const elsewhere = await serve((_, response) => response.end('elsewhere'));
  const scene = await honestScene(elsewhere);
  lie.tell(scene);
  scene.finish();
  const { port } = await serveScene(scene);
  return { scene, elsewhere, host: `127.0.0.1:${port}` };
}

async function fetchFrom(host: string, http: HttpClient): Promise<Delivery> {
  // Only this registry has credentials here.
  const credentials = (asked: string): Promise<typeof CREDENTIALS | undefined> =>
    Promise.resolve(asked === host ? CREDENTIALS : undefined);
  return new OciSource({ http, credentials }).fetch(`oci://${host}/${NAME}:${TAG}`);
}

describe('a registry that lies', () => {
  test('is tested with at least 40 lies of different names', () => {
    expect(new Set(LIES.map(({ name }) => name)).size).toBe(LIES.length);
    expect(LIES.length).toBeGreaterThanOrEqual(40);
  });

  test('is believed if it does not', async () => {
    const { host } = await sceneWith({ tell: (scene) => scene.list([scene.referrer()]) });
    using http = new HttpClient({ env: {}, limits: LIMITS });
    const { files, attachments } = await fetchFrom(host, http);
    expect([...files.keys()]).toEqual(['SKILL.md', 'run.sh', 'skill.lock']);
    expect(attachments).toHaveLength(1);
  });

  test.each(LIES)('is refused: $name', async (lie) => {
    const { host, elsewhere } = await sceneWith(lie);
    const limits = lie.says === 'longer than' ? { ...LIMITS, totalMs: 1000 } : LIMITS;
    using http = new HttpClient({ env: {}, limits });
    const error = await fetchFrom(host, http).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SkillError);
    const { code, message, fix } = error as SkillError;
    expect({ code, message }).toEqual({
      code: lie.code,
      message: expect.stringContaining(lie.says) as string,
    });
    expect(fix.length).toBeGreaterThan(10);
    // oxlint-disable-next-line no-control-regex -- these must not reach a terminal
    expect(message).not.toMatch(/[\u0000-\u001f\u202a-\u202e]/);
    expect(elsewhere.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
    // The same process goes on with an honest registry.
    const honest = await sceneWith({ tell: () => undefined });
    expect((await fetchFrom(honest.host, http)).files.size).toBe(3);
  });
});
