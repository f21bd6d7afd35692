/**
 * Quotas of tenants, the access log, and metrics of calls that did not run.
 */
import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AccessLog } from '../../src/http/access-log.ts';
import { Quotas } from '../../src/http/quotas.ts';
import { NO_USAGE } from '../../src/outcome.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { openStage } from './stage.ts';

const ECHO = { source: 'def execute(params):\n    return len(params["text"])\n' };
const FAILS = { source: 'def execute(params):\n    print("x" * 2000)\n    raise ValueError("no")\n' };

describe('a quota', () => {
  test('counts calls, CPU time and output per period, and begins anew after it', () => {
    let now = 0;
    const quotas = new Quotas(
      () => ({ per: 1000, calls: 2, cpu: 50, output: 10 }),
      () => now,
    );
    const call = (cpu_ms: number, output_bytes: number): void => {
      quotas.assertLeft('a');
      quotas.begin('a');
      quotas.end('a', { ...NO_USAGE, cpu_ms, output_bytes });
    };
    call(1, 1);
    call(1, 1);
    expect(() => call(1, 1)).toThrow('for calls is used up');
    now = 1000;
    call(50, 0);
    expect(() => call(1, 1)).toThrow('for CPU time is used up');
    expect(() => quotas.assertLeft('b')).not.toThrow();
    now = 2000;
    call(0, 10);
    now = 2400;
    expect(() => call(1, 1)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ retry_after_ms: 600 }) }),
    );
  });

  test('refuses with 429 and Retry-After, counts failed calls, and is in the metrics', async () => {
    await using stage = await openStage({
      skills: { fails: FAILS },
      limits: { tenants: { acme: { quota: { per: '1h', output: '1KB', calls: 100 } } } },
    });
    expect((await stage.execute('test/fails')).status).toBe(422);
    const refused = await stage.execute('test/fails');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    expect((await stage.execute('test/fails', {}, { as: 'other' })).status).toBe(422);
    const metrics = await (await stage.ask('/metrics', { as: 'metrics' })).text();
    expect(metrics).toMatch(/^skillcell_quota_used\{tenant="acme",resource="output"\} [2-9]\d{3}$/m);
    expect(metrics).toContain('skillcell_quota_used{tenant="acme",resource="calls"} 1');
    expect(metrics).toContain('skillcell_quota_limit{tenant="acme",resource="output"} 1000');
    expect(metrics).toContain('skillcell_refused_total{reason="quota"} 1');
  });

  test('with an unknown key is refused', async () => {
    const limits = { tenants: { acme: { quota: { per: '1h', memory: '1GiB' } } } };
    await expect(openStage({ skills: {}, limits })).rejects.toThrow('memory');
  });
});

test('calls that were refused before they ran have no latency', async () => {
  await using stage = await openStage({
    skills: { echo: ECHO },
    policy: 'skills: [{ match: "test/echo", decision: deny }]',
  });
  expect((await stage.execute('test/echo', { text: 'a' })).status).toBe(403);
  const metrics = await (await stage.ask('/metrics', { as: 'metrics' })).text();
  expect(metrics).toContain('skillcell_calls_total{skill="test/echo",code="untrusted"} 1');
  expect(metrics).not.toContain('skillcell_call_seconds_count');
  const stats = await stage.ask('/v1/stats?minutes=5&buckets=1', { as: 'reader' });
  expect(await stats.json()).toMatchObject({ buckets: [{ calls: 1, failed: 1, p50_ms: null }] });
});

describe('the access log', () => {
  test('has one bounded line per request, without query, parameters and tokens', async () => {
    const folder = openFolder();
    const file = join(folder, 'access.log');
    const accessLog = new AccessLog(file, () => undefined);
    const stage = await openStage({ skills: { echo: ECHO }, listen: { accessLog } });
    await stage.execute('test/echo', { text: 'private' });
    await stage.ask('/v1/me?word=private', { as: 'wrong-token' });
    await stage.ask(`/${'a'.repeat(5000)}`);
    renameSync(file, `${file}.1`);
    accessLog.reopen();
    await stage.ask('/healthz');
    await stage[Symbol.asyncDispose]();
    await accessLog.close();
    const read = (name: string): Record<string, unknown>[] =>
      readFileSync(name, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [call, stranger, long] = read(`${file}.1`);
    expect(call).toMatchObject({
      ...{ method: 'POST', path: '/v1/skills/test/echo/execute', status: 200 },
      ...{ tenant: 'acme', token: 'caller', remote: '127.0.0.1' },
    });
    expect(stranger).toMatchObject({ path: '/v1/me', status: 401 });
    expect(stranger).not.toHaveProperty('tenant');
    expect(String(long?.['path'])).toHaveLength(257);
    expect(read(file)).toMatchObject([{ path: '/healthz', status: 200 }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(`${file}.1`, 'utf8');
    for (const secret of ['private', 'wrong-token', ...Object.values(stage.tokens)])
      expect(text).not.toContain(secret);
    removeFolder(folder);
  });

  test('drops nothing silently: a file that cannot be written is reported', async () => {
    const notes: string[] = [];
    const log = new AccessLog('/nowhere/access.log', (text) => notes.push(text));
    log.write({ method: 'GET', path: '/', status: 200, ms: 1, remote: undefined });
    await expect.poll(() => notes.join('\n')).toContain('Cannot write the access log');
  });
});
