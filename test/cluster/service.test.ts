/**
 * `serve --cluster` and `worker --tenants`: the HTTP service in front of workers, with tenants that share nothing.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeToken } from '../../src/http/access-file.ts';
import { openFolder, writeSkill } from '../write-skill.ts';
import { startHttpFront, type HttpFront } from './http-front.ts';
import { openCluster, type ClusterStage } from './stage.ts';

let stage: ClusterStage;
let service: HttpFront;
let url = '';
let metricsToken = '';
const tokens: Record<string, string> = {};

beforeAll(async () => {
  const folder = openFolder();
  writeSkill(folder, {
    id: 'test/reads',
    manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
    source: `import os
def execute(params):
    return {"note": open(params["file"]).read()}`,
  });
  writeSkill(folder, {
    id: 'test/slow',
    source: `import time
def execute(params):
    time.sleep(4)
    return {}`,
  });
  const tenants: Record<string, object> = {};
  for (const name of ['acme', 'umbrella']) {
    mkdirSync(join(folder, `files-${name}`));
    writeFileSync(join(folder, `files-${name}`, 'note.txt'), `of ${name}`);
    chmodSync(join(folder, `files-${name}`), 0o755);
    tenants[name] = { workspace: join(folder, `files-${name}`) };
  }
  const tenantsFile = join(folder, 'tenants.yaml');
  writeFileSync(tenantsFile, JSON.stringify({ version: 1, tenants }), { mode: 0o600 });
  const access = ['acme', 'umbrella'].map((tenant) => {
    const { entry, secret } = makeToken({ name: 'app', tenant, scopes: ['call', 'read'] });
    tokens[tenant] = secret;
    return entry;
  });
  const { entry, secret } = makeToken({ name: 'prometheus', tenant: 'operator', scopes: ['metrics'] });
  access.push(entry);
  metricsToken = secret;
  const accessFile = join(folder, 'access.json');
  writeFileSync(
    accessFile,
    JSON.stringify({ version: 1, tokens: access, limits: {}, tenants: {}, skills: {} }),
    {
      mode: 0o600,
    },
  );
  stage = await openCluster({ folder, queue: 1, tenants: [{ name: 'acme' }, { name: 'umbrella' }] });
  await stage.startWorker('w1', ['--slots', '1', '--tenants', tenantsFile]);
  service = await startHttpFront(stage, ['--access', accessFile]);
  ({ url } = service);
});

afterAll(async () => {
  await service.stop();
  await stage[Symbol.asyncDispose]();
});

function call(
  tenant: string,
  { skill, params = {} }: { skill: string; params?: object },
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/skills/${encodeURIComponent(skill)}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens[tenant]}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ params }),
  });
}

async function poolMetric(name: string): Promise<string | undefined> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  return new RegExp(`^skillcell_cluster_calls_${name}{pool="default"} (\\d+)$`, 'm').exec(
    await response.text(),
  )?.[1];
}

describe('a service in front of a cluster', () => {
  test.each(['acme', 'umbrella'])('gives %s its own workspace, with the same skill', async (tenant) => {
    const file = '/workspace/note.txt';
    const response = await call(tenant, { skill: 'test/reads', params: { file } });
    const body: unknown = await response.json();
    expect(body, JSON.stringify(body)).toMatchObject({ ok: true, result: { note: `of ${tenant}` } });
  });

  test('denies a tenant the workspace of another', async () => {
    const response = await call('acme', {
      skill: 'test/reads',
      params: { file: join(stage.folder, 'files-umbrella', 'note.txt') },
    });
    expect(await response.json()).toMatchObject({ ok: false });
  });

  test('answers 429 with Retry-After when the queue of a tenant is full', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => call('acme', { skill: 'test/slow' })));
    const refused = all.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const response of refused) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(all.some(({ status }) => status === 200)).toBe(true);
  });

  test('exports how many calls of the pool wait and run', async () => {
    // The worker has one place, so one of the two waits while the other runs.
    const ended = Promise.all(['acme', 'umbrella'].map((tenant) => call(tenant, { skill: 'test/slow' })));
    while ((await poolMetric('waiting')) !== '1' || (await poolMetric('running')) !== '1') await sleep(100);
    expect((await ended).map(({ status }) => status)).toEqual([200, 200]);
    while ((await poolMetric('running')) !== '0' || (await poolMetric('waiting')) !== '0') await sleep(100);
  });

  test('gives a repeated request with the same Idempotency-Key the same outcome', async () => {
    const file = '/workspace/note.txt';
    const ask = async (): Promise<unknown> =>
      (
        await call('acme', { skill: 'test/reads', params: { file } }, { 'idempotency-key': 'order-7' })
      ).json();
    const first = await ask();
    expect(first).toMatchObject({ ok: true });
    expect(await ask()).toEqual(first);
  });
});
