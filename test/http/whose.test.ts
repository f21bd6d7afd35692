/**
 * Every route and every stored thing, tried from the side of another tenant.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { ROUTES } from '../../src/http/routes/all.ts';
import { ROUTE_OWNERS, STORED_OWNERS } from '../../src/http/whose.ts';
import { MAX_STREAMS } from '../../src/http/event-streams.ts';
import { writeSkill } from '../write-skill.ts';
import type { Ask } from './stage.ts';
import { TenantsStage } from './tenants-stage.ts';

const SLEEPS =
  'import time\ndef execute(params):\n    print("words of acme", flush=True)\n    time.sleep(params["s"])';
const OWN = { uploads: { skills: 3, bytes: '1MiB', size: '1MiB' } };

let stage: TenantsStage;
/** A call of acme that ended, and one that runs until it is cancelled. */
let ended = '';
let running = '';
let outcome: Promise<unknown>;

beforeAll(async () => {
  const manifest = { limits: { timeout: '600s' } };
  stage = await new TenantsStage({
    policy: 'ceilings: { timeout: 600s }',
    skills: { sleeps: { source: SLEEPS, manifest } },
    acme: OWN,
    umbrella: OWN,
  }).open();
  await stage.upload('acme', { id: 'own/of_acme', source: SLEEPS });
  ended = (await stage.execute('acme', 'test/sleeps', { s: 0 })).body.call_id ?? '';
  outcome = stage.execute('acme', 'test/sleeps', { s: 500 });
  while (running === '') {
    const { running: calls } = (await read('acme', '/v1/calls')).json as { running: { call_id: string }[] };
    running = calls.at(0)?.call_id ?? '';
    await setTimeout(20);
  }
});

afterAll(async () => {
  stage.running.service.live.cancelAll();
  await outcome;
  await stage[Symbol.asyncDispose]();
});

interface Answer {
  status: number;
  text: string;
  json: unknown;
}

async function read(as: string, path: string, options: string | Ask = {}): Promise<Answer> {
  const answer = await stage.ask(path, {
    as,
    ...(typeof options === 'string' ? { method: options } : options),
  });
  const text = await answer.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: answer.status, text, json: parsed };
}

/** The answer about something of acme is the one about something that does not exist, apart from its name. */
async function sameAsUnknown(
  path: (name: string) => string,
  [theirs, none]: [string, string],
  method = 'GET',
): Promise<void> {
  const [found, missing] = [
    await read('umbrella', path(theirs), method),
    await read('umbrella', path(none), method),
  ];
  expect(found.status).toBe(404);
  expect(missing.status).toBe(404);
  expect(found.text.replaceAll(theirs, none)).toBe(missing.text);
}

async function showsNothing(path: string): Promise<void> {
  const { status, text } = await read('umbrella', path);
  expect(status).toBe(200);
  expect(text).not.toMatch(/acme|words of/);
  for (const id of [ended, running]) expect(text).not.toContain(id);
}

const NONE = '01M7T557E18ZXS5TEX7BQZJHND';

/** What umbrella tries, by route. */
const PROBES: Readonly<Record<string, () => Promise<void>>> = {
  'get /': () => showsNothing('/'),
  'get /ui/{name}': () => showsNothing('/ui/main.js'),
  'get /openapi.json': () => showsNothing('/openapi.json'),
  'get /healthz': () => showsNothing('/healthz'),
  'get /readyz': () => showsNothing('/readyz'),
  'get /metrics': async () => {
    await showsNothing('/metrics');
    expect((await read('umbrella', '/metrics')).text).not.toMatch(
      /sleeps|http_requests|resident_memory|running/,
    );
    const acme = (await read('acme', '/metrics')).text;
    expect(acme).toContain('skillcell_calls_total{skill="test/sleeps",code="ok"} 1');
    const all = (await read('prometheus', '/metrics')).text;
    expect(all).toContain('skillcell_tenant_calls_total{tenant="acme",code="ok"} 1');
  },
  'get /v1/me': () => showsNothing('/v1/me'),
  'get /v1/machine': () => showsNothing('/v1/machine'),
  'get /v1/skills': async () => {
    await showsNothing('/v1/skills');
    expect((await read('umbrella', '/v1/skills?tenant=acme')).status).toBe(403);
    const [theirs, none] = [
      await read('umbrella', '/v1/skills?tenant=acme'),
      await read('umbrella', '/v1/skills?tenant=none'),
    ];
    expect(theirs.text.replaceAll('acme', 'none')).toBe(none.text);
  },
  'put /v1/skills': async () => {
    const upload = { id: 'own/of_acme', source: 'def execute(params):\n    return "of umbrella"' };
    expect((await stage.upload('umbrella', upload)).status).toBe(201);
    const digests = [
      await read('umbrella', '/v1/skills/own/of_acme'),
      await read('acme', '/v1/skills/own/of_acme'),
    ];
    expect(new Set(digests.map(({ json }) => (json as { digest: string }).digest)).size).toBe(2);
    expect((await read('umbrella', '/v1/skills/own/of_acme', 'DELETE')).status).toBe(200);
  },
  'get /v1/skills/{name}': () => sameAsUnknown((name) => `/v1/skills/own/${name}`, ['of_acme', 'of_none']),
  'delete /v1/skills/{name}': async () => {
    await sameAsUnknown((name) => `/v1/skills/own/${name}`, ['of_acme', 'of_none'], 'DELETE');
    expect((await read('acme', '/v1/skills/own/of_acme')).status).toBe(200);
  },
  'post /v1/skills/{name}/execute': async () => {
    const [theirs, none] = [
      await stage.execute('umbrella', 'own/of_acme'),
      await stage.execute('umbrella', 'own/of_none'),
    ];
    expect(theirs.status).toBe(404);
    expect(JSON.stringify(theirs).replaceAll('of_acme', 'of_none')).toBe(JSON.stringify(none));
  },
  'post /v1/programs': async () => {
    const program = (skill: string): Ask => ({
      method: 'POST',
      json: { language: 'javascript', source: 'export default () => 1;', skills: [skill] },
    });
    const theirs = await read('umbrella', '/v1/programs', program('own/of_acme'));
    const none = await read('umbrella', '/v1/programs', program('own/of_none'));
    expect([theirs.status, theirs.json]).toMatchObject([
      404,
      { ok: false, error: { code: 'skill_unavailable' } },
    ]);
    expect(theirs.text.replaceAll('of_acme', 'of_none')).toBe(none.text);
  },
  'put /v1/skills/{name}/approval': async () => {
    const json = { digest: `sha256:${'0'.repeat(64)}`, pins: [] };
    for (const query of ['', '?tenant=umbrella', '?tenant=acme'])
      expect(
        (await read('umbrella', `/v1/skills/test/sleeps/approval${query}`, { method: 'PUT', json })).status,
      ).toBe(403);
  },
  'delete /v1/skills/{name}/approval': async () => {
    expect((await read('umbrella', '/v1/skills/test/sleeps/approval?tenant=acme', 'DELETE')).status).toBe(
      403,
    );
  },
  'get /v1/calls': async () => {
    await showsNothing('/v1/calls');
    const [theirs, none] = [
      await read('umbrella', '/v1/calls?tenant=acme'),
      await read('umbrella', '/v1/calls?tenant=none'),
    ];
    expect([theirs.status, theirs.text]).toEqual([403, none.text]);
    const caller = await read('umbrella', '/v1/calls?caller=http:acme:acme');
    expect(caller.json).toEqual({ running: [], past: [] });
  },
  'get /v1/calls/{id}': async () => {
    await sameAsUnknown((id) => `/v1/calls/${id}`, [running, NONE]);
    await sameAsUnknown((id) => `/v1/calls/${id}`, [ended, NONE]);
  },
  'get /v1/calls/{id}/events': async () => {
    await sameAsUnknown((id) => `/v1/calls/${id}/events`, [running, NONE]);
    // Also not by using up its streams.
    for (let at = 0; at <= MAX_STREAMS; at++) await read('umbrella', `/v1/calls/${running}/events`);
    const controller = new AbortController();
    const own = await stage.ask(`/v1/calls/${running}/events`, { as: 'acme', signal: controller.signal });
    expect(own.status).toBe(200);
    controller.abort();
  },
  'delete /v1/calls/{id}': async () => {
    await sameAsUnknown((id) => `/v1/calls/${id}`, [running, NONE], 'DELETE');
    expect((await read('acme', `/v1/calls/${running}`)).json).toMatchObject({ state: 'running' });
  },
  'get /v1/receipts': async () => {
    await showsNothing('/v1/receipts');
    await stage.execute('umbrella', 'test/sleeps', { s: 0 });
    const { receipts } = (await read('umbrella', '/v1/receipts')).json as { receipts: object[] };
    for (const receipt of receipts) expect(Object.keys(receipt)).toEqual(['receipt']);
    const [theirs, none] = [ended, NONE].map((id) => read('umbrella', `/v1/receipts?before=${id}`));
    expect((await theirs)?.text.replaceAll(ended, NONE)).toBe((await none)?.text);
    expect((await read('umbrella', '/v1/receipts?tenant=acme')).status).toBe(403);
  },
  'get /v1/receipts/verify': async () => {
    expect((await read('umbrella', '/v1/receipts/verify')).status).toBe(403);
  },
  'get /v1/receipts/export': async () => {
    for (const format of ['csv', 'jsonl']) await showsNothing(`/v1/receipts/export?format=${format}`);
  },
  'get /v1/receipts/{id}': () => sameAsUnknown((id) => `/v1/receipts/${id}`, [ended, NONE]),
  'get /v1/receipts/{id}/tree': () => sameAsUnknown((id) => `/v1/receipts/${id}/tree`, [ended, NONE]),
  'get /v1/stats': async () => {
    const before = (await read('umbrella', '/v1/stats')).json as { buckets: { calls: number }[] };
    await stage.execute('acme', 'test/sleeps', { s: 0 });
    const after = (await read('umbrella', '/v1/stats')).json as { buckets: { calls: number }[] };
    const sum = ({ buckets }: typeof before): number => buckets.reduce((all, { calls }) => all + calls, 0);
    expect(sum(after)).toBe(sum(before));
  },
};

describe('the table of what is whose', () => {
  test('has exactly the routes of the service, and a probe for each', () => {
    const registered = createApp(stage.running.service)
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`);
    expect(registered.length).toBeGreaterThan(ROUTES.length);
    expect([...new Set(registered)].toSorted()).toEqual(Object.keys(ROUTE_OWNERS).toSorted());
    expect(Object.keys(PROBES).toSorted()).toEqual(Object.keys(ROUTE_OWNERS).toSorted());
  });

  test.each(Object.keys(ROUTE_OWNERS))('%s shows another tenant nothing', async (route) => {
    await PROBES[route]?.();
  });

  test('has no other way in: this service does not speak MCP', async () => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await read('umbrella', '/mcp', method)).status).toBe(404);
  });

  test('has everything that the service stores, and no cell of a tenant may have any of it', async () => {
    const home = join(stage.folder, 'home');
    await stage.approve('own/of_acme', 'acme');
    const stored = readdirSync(home);
    expect(stored.length).toBeGreaterThan(5);
    const rows = Object.keys(STORED_OWNERS);
    expect(
      stored.filter(
        (name) =>
          !rows.some((row) => name === row || name.startsWith(`${row}.`) || name.startsWith(`${row}-`)),
      ),
    ).toEqual([]);
    expect(readdirSync(join(home, 'tenants/acme')).toSorted()).toEqual(['approvals', 'uploads']);
    const paths = [...stored, 'tenants/acme/uploads', 'tenants/acme/approvals'].map((name) =>
      join(home, name),
    );
    writeSkill(stage.folder, {
      id: 'test/greedy',
      source: 'def execute(params):\n    return 1',
      manifest: { capabilities: { filesystem: paths.map((path) => ({ path, access: 'read' })) } },
    });
    const { policy } = stage;
    stage.policy = { ...policy, filesystem: { allow: ['/**'] } };
    const skill = await stage.runtime.load('test/greedy');
    const context = stage.tenants.find('umbrella')?.context;
    const overlay = context && { ...context, policy: { ...policy, filesystem: { allow: ['/**'] } } };
    const { grant } = await stage.runtime.plan(skill, { ...(overlay ? { tenant: overlay } : {}) });
    stage.policy = policy;
    expect(grant.filesystem).toEqual([]);
    expect(grant.withheld.length).toBe(paths.length);
  });
});
