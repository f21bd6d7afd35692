/**
 * Running calls: events, who may watch and cancel them, concurrency limits, and shutdown.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

const TALKS = `
  import sys, time
  def execute(params):
      print("first", flush=True)
      time.sleep(params.get("seconds", 19))
      return "done"
`;

const SKILLS = { talks: { source: TALKS, manifest: { limits: { timeout: '20s' } } } };

const EVENTS = { accept: 'text/event-stream' };

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    skills: SKILLS,
    limits: {
      tenants: { acme: { concurrent: 2, queue: 1 }, umbrella: { rate: { calls: 1, per: '1h' } } },
      skills: { '*': { concurrent: 3 } },
    },
  });
});

afterAll(() => stage[Symbol.asyncDispose]());

interface ServerEvent {
  event: string;
  data: Record<string, unknown>;
}

async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, event = '', data = '{}'] = /^event: (.*)\ndata: (.*)$/s.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      yield { event, data: JSON.parse(data) as ServerEvent['data'] };
    }
  }
}

async function next(events: AsyncGenerator<ServerEvent>, wanted: string): Promise<ServerEvent['data']> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error(`no ${wanted}`);
    if (value.event === wanted) return value.data;
  }
}

/** Starts a call that runs until it is cancelled. */
async function begin(as = 'caller'): Promise<{ id: string; events: AsyncGenerator<ServerEvent> }> {
  const response = await stage.execute('test/talks', {}, { as, headers: EVENTS });
  expect(response.status).toBe(200);
  const events = eventsOf(response);
  return { id: String((await next(events, 'accepted'))['call_id']), events };
}

function cancel(id: string, as = 'caller'): Promise<Response> {
  return stage.ask(`/v1/calls/${id}`, { method: 'DELETE', as });
}

describe('a running call', () => {
  test('streams its output immediately to its caller and to others of its tenant', async () => {
    const { id, events } = await begin();
    expect(await next(events, 'log')).toEqual({ text: 'first\n', stream: 'stdout' });
    const watched = eventsOf(await stage.ask(`/v1/calls/${id}/events`, { as: 'reader' }));
    expect(await next(watched, 'log')).toEqual({ text: 'first\n', stream: 'stdout' });
    const list = await stage.ask('/v1/calls?limit=0', { as: 'reader' });
    expect(await list.json()).toMatchObject({ running: [{ call_id: id, state: 'running' }], past: [] });
    const theirs = await stage.ask('/v1/calls?limit=0', { as: 'other' });
    expect(await theirs.json()).toEqual({ running: [], past: [] });
    expect((await stage.ask(`/v1/calls/${id}/events`, { as: 'other' })).status).toBe(404);
    expect((await cancel(id, 'other')).status).toBe(404);
    expect((await cancel(id)).status).toBe(200);
    for (const stream of [events, watched])
      expect(await next(stream, 'done')).toMatchObject({
        outcome: { ok: false, call_id: id, error: { code: 'cancelled' } },
      });
    expect((await stage.ask(`/v1/calls/${id}/events`, { as: 'reader' })).status).toBe(404);
  });

  test('ends when its caller closes the connection', async () => {
    const controller = new AbortController();
    const asked = stage.execute('test/talks', {}, { signal: controller.signal });
    await expect.poll(() => stage.running.service.live.all[0]?.state).toBe('running');
    const { id } = stage.running.service.live.all[0]!;
    controller.abort();
    await expect(asked).rejects.toThrow('aborted');
    await expect.poll(() => stage.running.service.live.all).toEqual([]);
    expect(stage.runtime.audit.show(id)?.receipt.code).toBe('cancelled');
  });

  test('also ends when its event stream is no longer read', async () => {
    const { events } = await begin();
    await events.return(undefined);
    await expect.poll(() => stage.running.service.live.all).toEqual([]);
  });
});

describe('too many calls', () => {
  test('of one tenant wait, then are rejected, and do not block others', async () => {
    const begun = [await begin(), await begin(), await begin()];
    const states = (): string[] => stage.running.service.live.all.map(({ state }) => state);
    await expect.poll(states).toEqual(['running', 'running', 'waiting']);
    const refused = await stage.execute('test/talks');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'busy', scope: 'tenant' } },
    });
    expect((await stage.execute('test/talks', { seconds: 0 }, { as: 'other' })).status).toBe(200);
    const again = await stage.execute('test/talks', { seconds: 0 }, { as: 'other' });
    expect(await again.json()).toMatchObject({ error: { detail: { scope: 'tenant', rate: { calls: 1 } } } });
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(60);
    // The queued call is cancelled before it starts, and still has a receipt.
    const [first, second, third] = begun;
    await cancel(third!.id);
    expect(await next(third!.events, 'done')).toMatchObject({ outcome: { ok: false } });
    expect(stage.runtime.audit.show(third!.id)?.receipt.code).toBe('cancelled');
    for (const { id } of [first!, second!]) await cancel(id);
    const metrics = await (await stage.ask('/metrics', { as: 'metrics' })).text();
    expect(metrics).toMatch(/skillcell_refused_total\{reason="busy"\} 2/);
  });
});

test('a caller that left before the call could queue leaves a receipt and is counted separately', async () => {
  const { service } = stage.running;
  const identity = { name: 'gone', tenant: 'gone', caller: 'http:gone', scopes: new Set(['call'] as const) };
  const { outcome } = await service.start(
    { name: 'test/talks', params: {} },
    identity as unknown as Parameters<typeof service.start>[1],
    AbortSignal.abort(),
  );
  const { call_id, ...ended } = await outcome;
  expect(ended).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  expect(stage.runtime.audit.show(call_id)?.receipt).toMatchObject({ code: 'cancelled' });
  const metrics = await (await stage.ask('/metrics', { as: 'metrics' })).text();
  expect(metrics).toMatch(/skillcell_calls_total\{skill="test\/talks",code="cancelled"\} \d/);
  const stats = await (await stage.ask('/v1/stats?minutes=5&buckets=1', { as: 'reader' })).json();
  expect(JSON.stringify(stats)).toMatch(/"cancelled":[1-9]/);
});

describe('a shutdown', () => {
  const open = (): Promise<Stage> => openStage({ skills: SKILLS, listen: { drainMs: 4000 } });

  test('accepts no new calls, lets running ones finish, and ends the rest after a while', async () => {
    await using other = await open();
    const slow = other.execute('test/talks');
    const { live } = other.running.service;
    await expect.poll(() => live.all[0]?.state).toBe('running');
    const quick = other.execute('test/talks', { seconds: 1 });
    await expect.poll(() => live.all.length).toBe(2);
    const closed = other.running.close();
    expect(await (await quick).json()).toMatchObject({ ok: true, result: 'done' });
    await sleep(10);
    expect(other.running.service.isClosing).toBe(true);
    expect(() => other.running.service.dispatcher.enter({ tenant: 'a', skill: 'b' })).toThrow(
      'shutting down',
    );
    expect(await (await slow).json()).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    await closed;
    await expect(other.ask('/healthz')).rejects.toThrow('fetch failed');
  });

  test('is visible until the last call has ended, and new calls get an error that says so', async () => {
    await using other = await open();
    const slow = other.execute('test/talks', { seconds: 2 });
    const { live } = other.running.service;
    await expect.poll(() => live.all[0]?.state).toBe('running');
    const closed = other.running.close();
    const ready = await other.ask('/readyz');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: 'not_ready', hindrances: [{ part: 'service' }] });
    const alive = await other.ask('/healthz');
    expect([alive.status, alive.headers.get('connection')]).toEqual([503, 'close']);
    const refused = await other.execute('test/talks', { seconds: 0 });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      ok: false,
      error: { code: 'skill_unavailable', detail: { closing: true } },
    });
    const metrics = await (await other.ask('/metrics', { as: 'admin' })).text();
    expect(metrics).toMatch(/skillcell_refused_total\{reason="closing"\} 1/);
    expect(await (await slow).json()).toMatchObject({ ok: true, result: 'done' });
    await closed;
    await expect(other.ask('/readyz')).rejects.toThrow('fetch failed');
  });
});
