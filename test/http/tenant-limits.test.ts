/**
 * What a tenant may use, and that a tenant at its limit takes nothing from others.
 */
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { TenantsStage, type TenantsStageOptions } from './tenants-stage.ts';

const SKILLS = {
  plain: { source: 'def execute(params):\n    return "ran"' },
  prints: { source: 'def execute(params):\n    print("x" * 5000)' },
  burns: { source: 'def execute(params):\n    return sum(range(20_000_000))' },
  sleeps: {
    source: 'import time\ndef execute(params):\n    time.sleep(300)',
    manifest: { limits: { timeout: '600s' } },
  },
};

async function open(options: TenantsStageOptions): Promise<TenantsStage> {
  return new TenantsStage({ skills: SKILLS, policy: 'ceilings: { timeout: 600s }', ...options }).open();
}

/** Runs `work` while a call of acme is running. */
async function whileRunning(stage: TenantsStage, work: () => Promise<void>): Promise<void> {
  const running = stage.execute('acme', 'test/sleeps');
  const { live } = stage.running.service;
  while (!live.all.some(({ state }) => state === 'running')) await setTimeout(20);
  try {
    await work();
  } finally {
    live.cancelAll();
    await running;
  }
}

async function refusal(
  stage: TenantsStage,
  as: string,
  skill = 'test/plain',
): Promise<{ text: string; retry: number }> {
  const answer = await stage.ask(`/v1/skills/${skill}/execute`, { method: 'POST', as, json: {} });
  expect(answer.status).toBe(429);
  return { text: await answer.text(), retry: Number(answer.headers.get('retry-after')) };
}

describe('a tenant at its limit', () => {
  test.each([
    ['calls', { calls: 1 }, 'test/plain'],
    ['CPU time', { cpu: '1ms' }, 'test/burns'],
    ['output', { output: '1KB' }, 'test/prints'],
  ])('of %s per period gets 429 with Retry-After, and others do not', async (what, quota, skill) => {
    await using stage = await open({ acme: { limits: { quota: { per: '1h', ...quota } } } });
    expect((await stage.execute('acme', skill)).status).toBe(200);
    const { text, retry } = await refusal(stage, 'acme');
    expect(text).toContain(`for ${what} is used up`);
    expect(retry).toBeGreaterThan(3000);
    expect((await stage.execute('umbrella', skill)).status).toBe(200);
    const used = await (await stage.ask('/metrics', { as: 'acme' })).text();
    expect(used).toContain('skillcell_quota_used{tenant="acme"');
  });

  test('of cells at the same time gets 429, and others do not', async () => {
    await using stage = await open({ acme: { limits: { concurrent: 1, queue: 0 } } });
    await whileRunning(stage, async () => {
      expect((await refusal(stage, 'acme')).retry).toBeGreaterThan(0);
      expect((await stage.execute('umbrella', 'test/plain')).status).toBe(200);
    });
    expect((await stage.execute('acme', 'test/plain')).status).toBe(200);
  });

  test('of the access file or of the file of tenants: the lower one counts', async () => {
    await using stage = await open({
      limits: { tenants: { acme: { rate: { calls: 1, per: '1h' } } } },
      acme: { limits: { rate: { calls: 50, per: '1h' } } },
    });
    expect((await stage.execute('acme', 'test/plain')).status).toBe(200);
    await refusal(stage, 'acme');
  });

  test('of a skill does not keep others from the same skill', async () => {
    await using stage = await open({ limits: { skills: { '*': { concurrent: 1, queue: 0 } } } });
    await whileRunning(stage, async () => {
      expect((await refusal(stage, 'acme', 'test/sleeps')).text).toContain('test/sleeps');
      const running = stage.execute('umbrella', 'test/sleeps');
      const { live } = stage.running.service;
      const isUmbrella = (): boolean =>
        live.all.some(({ facts, state }) => facts.tenant === 'umbrella' && state === 'running');
      while (!isUmbrella()) await setTimeout(20);
      live.cancelAll();
      expect((await running).status).toBe(499);
    });
  });

  test('of the whole service learns nothing about who fills it', async () => {
    await using stage = await open({ limits: { limits: { concurrent: 1, queue: 0 } } });
    await whileRunning(stage, async () => {
      const { text, retry } = await refusal(stage, 'umbrella');
      expect(JSON.parse(text)).toEqual({
        ok: false,
        error: {
          code: 'resource_exceeded',
          message: 'The service is busy',
          fix: 'Try again after 1000 ms.',
          detail: { limit: 'busy', retry_after_ms: 1000 },
        },
      });
      expect(retry).toBe(1);
    });
  });
});
