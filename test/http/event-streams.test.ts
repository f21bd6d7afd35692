/**
 * The limit of event streams per tenant.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventStreams, MAX_STREAMS } from '../../src/http/event-streams.ts';
import { openStage, type Stage } from './stage.ts';

const SOURCE = `
  import time
  def execute(params):
      time.sleep(100)
`;
const MOST = 3;

let stage: Stage;
let call: Promise<Response>;
let id: string;

beforeAll(async () => {
  stage = await openStage({
    skills: { sleeps: { source: SOURCE, manifest: { limits: { timeout: '120s' } } } },
    limits: { tenants: { acme: { streams: MOST } } },
  });
  call = stage.execute('test/sleeps');
  const { live } = stage.running.service;
  while (live.all[0]?.state !== 'running') await sleep(25);
  id = live.all[0]?.id ?? '';
});

afterAll(async () => {
  stage.running.service.live.cancelAll();
  await call;
  await stage[Symbol.asyncDispose]();
});

const follow = (as: string): Promise<Response> => stage.ask(`/v1/calls/${id}/events`, { as });

describe('event streams of a call', () => {
  test('are rejected if a tenant has too many, without affecting other tenants', async () => {
    const open = await Promise.all(Array.from({ length: MOST }, () => follow('reader')));
    expect(open.map(({ status }) => status)).toEqual(Array<number>(MOST).fill(200));
    const refused = await follow('both');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'busy', scope: 'tenant', streams: MOST } },
    });
    const ofAnother = await follow('admin');
    expect(ofAnother.status).toBe(200);
    // The call sends no events, so the slot is free because the reader disconnected.
    await open[0]?.body?.cancel();
    const again: Response[] = [];
    const tryAgain = async (): Promise<number> => {
      const response = await follow('reader');
      again.push(response);
      return response.status;
    };
    await expect.poll(tryAgain).toBe(200);
    for (const { body } of [...open.slice(1), ofAnother, ...again]) await body?.cancel();
  });

  test('are limited even if the operator configures nothing', () => {
    const streams = new EventStreams();
    const leave = Array.from({ length: MAX_STREAMS }, () => streams.enter('acme')).at(0);
    expect(() => streams.enter('acme')).toThrow('Too many event streams');
    leave?.();
    leave?.();
    streams.enter('acme');
    expect(() => streams.enter('acme')).toThrow('Too many event streams');
    streams.enter('umbrella');
  });
});
