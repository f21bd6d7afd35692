/**
 * One contract: the same calls through a runtime and through a cluster have the same outcomes, codes and events.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallEvent, ExecuteOptions, Outcome } from '../../src/index.ts';
import { HostFolders } from '../../src/calls/host-folders.ts';
import { JsonText } from '../../src/json-text.ts';
import { openFolder, writeSkill } from '../write-skill.ts';
import { openCluster, type ClusterStage, type Front, type WorkerProcess } from './stage.ts';
import { writeWaitingSkill } from './waiting-skill.ts';

let stage: ClusterStage;
let front: Front;
let worker: WorkerProcess;

const STRING = { type: 'object', properties: { text: { type: 'string' } } };

beforeAll(async () => {
  const folder = openFolder();
  writeSkill(folder, {
    id: 'test/echo',
    manifest: { parameters: STRING },
    source: `def execute(params):
    print("hello from echo")
    return {"echo": params.get("text", ""), "size": len(params.get("text", ""))}`,
  });
  writeSkill(folder, {
    id: 'test/fails',
    source: `def execute(params):
    raise ValueError("no luck")`,
  });
  writeSkill(folder, {
    id: 'test/denied',
    source: `def execute(params):
    open("/etc/hostname").read()`,
  });
  // Prints nothing, because a busy machine may not get that far in its time.
  writeSkill(folder, {
    id: 'test/silent',
    source: `import time
def execute(params):
    time.sleep(50)`,
  });
  writeWaitingSkill(folder, 'test/slow', { seconds: 50, says: 'waiting' });
  stage = await openCluster({ folder });
  worker = await stage.startWorker('w1', ['--slots', '2']);
  front = await stage.startFront('front');
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

type Way = 'locally' | 'in a cluster';

interface Ran {
  outcome: Outcome;
  events: CallEvent[];
}

async function run(
  way: Way,
  [skill, params]: [skill: string, params: unknown],
  options: ExecuteOptions = {},
): Promise<Ran> {
  const events: CallEvent[] = [];
  const onEvent = (event: CallEvent): void => {
    events.push(event);
    options.onEvent?.(event);
  };
  const all = { ...options, isolated: true, reject: false as const, onEvent };
  const outcome =
    way === 'locally'
      ? await front.runtime.execute(skill, params, all)
      : await front.client.execute(skill, params, { ...all, tenantName: 'acme' });
  return { outcome, events };
}

/** Without what differs between any two calls. */
function comparable({ outcome, events }: Ran): object {
  const { home, registries } = front.runtime;
  const { call_id, usage, execution, ...rest } = new HostFolders({ home, registries }).outcome(outcome);
  return {
    rest: JSON.parse(JSON.stringify(rest)) as unknown,
    hasId: /^[0-9A-Z]{26}$/.test(call_id),
    usage: Object.keys(usage),
    place: execution && { ...execution, start: '' },
    events: events.map(({ type }) => type).filter((type, at, all) => type !== 'log' || all[at - 1] !== 'log'),
    ids: new Set(events.map(({ call }) => call.id)).size,
  };
}

const CASES: { name: string; skill: string; params: unknown; options?: ExecuteOptions; code: string }[] = [
  { name: 'succeeds', skill: 'test/echo', params: { text: 'hi' }, code: 'ok' },
  { name: 'raises', skill: 'test/fails', params: {}, code: 'skill_error' },
  { name: 'is denied', skill: 'test/denied', params: {}, code: 'capability_denied' },
  { name: 'has wrong parameters', skill: 'test/echo', params: { text: 1 }, code: 'invalid_params' },
  {
    name: 'runs out of time',
    skill: 'test/silent',
    params: {},
    options: { timeout: 500 },
    code: 'resource_exceeded',
  },
  { name: 'does not exist', skill: 'test/missing', params: {}, code: 'skill_unavailable' },
  {
    name: 'asks for a mode that its manifest does not list',
    skill: 'test/echo',
    params: {},
    options: { execution: 'container' },
    code: 'usage',
  },
  { name: 'has a component', skill: 'text/word_stats', params: { text: 'to be' }, code: 'ok' },
];

describe('a call that', () => {
  test.each(CASES)('$name ends alike in both places', async ({ skill, params, options, code }) => {
    const local = await run('locally', [skill, params], options);
    const distant = await run('in a cluster', [skill, params], options);
    expect(codeOf(local)).toBe(code);
    expect(comparable(distant)).toEqual(comparable(local));
  });

  test.each(['locally', 'in a cluster'] as const)('is cancelled while it runs ends %s', async (way) => {
    const controller = new AbortController();
    const ran = await run(way, ['test/slow', {}], {
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === 'log') controller.abort();
      },
    });
    expect(codeOf(ran)).toBe('cancelled');
    expect(ran.events.map(({ type }) => type)).toEqual(['accepted', 'started', 'log', 'done']);
  });

  test.each(['locally', 'in a cluster'] as const)(
    'has large parameters and a large result passes both on %s',
    async (way) => {
      const text = 'a'.repeat(600_000);
      const params = new JsonText(Buffer.from(JSON.stringify({ text })));
      const { outcome } = await run(way, ['test/echo', params]);
      expect(outcome).toMatchObject({ ok: true });
      expect((outcome as { result: unknown }).result).toEqual({ echo: text, size: text.length });
    },
  );

  test.each(['locally', 'in a cluster'] as const)(
    'has large parameters that are not JSON is refused %s',
    async (way) => {
      const params = new JsonText(Buffer.from(`{"text": "${'a'.repeat(40_000)}`));
      expect(codeOf(await run(way, ['test/echo', params]))).toBe('invalid_params');
    },
  );

  test('throws the same error unless it is told not to', async () => {
    const local = front.runtime.execute('test/fails', {}, { isolated: true });
    const distant = front.client.execute('test/fails', {}, { tenantName: 'acme' });
    const [one, other] = await Promise.all(
      [local, distant].map((each) => each.catch((error: unknown) => error)),
    );
    const bodyOf = (error: unknown): unknown => (error as { toBody(): { code: string } }).toBody().code;
    expect(bodyOf(other)).toBe(bodyOf(one));
  });
});

describe('a front end', () => {
  test.each(['workspace', 'grants', 'allowEnv', 'trustRemoteCode', 'tenant', 'onOutput'] as const)(
    'refuses %s, because a worker decides about it',
    async (name) => {
      const options = { [name]: name === 'workspace' ? '/tmp' : name === 'trustRemoteCode' ? true : [] };
      await expect(front.client.execute('test/echo', {}, options)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  test('gives a repeated request with the same idempotency key the outcome of the first', async () => {
    const ask = (text: string): Promise<Outcome> =>
      front.client.execute(
        'test/echo',
        { text },
        { tenantName: 'acme', idempotencyKey: 'order 1', reject: false },
      );
    const [first, second] = await Promise.all([ask('once'), ask('once')]);
    const third = await ask('once');
    expect(first).toMatchObject({ ok: true, result: { echo: 'once' } });
    for (const again of [second, third]) expect(again).toEqual(first);
    expect(await ask('other')).toMatchObject({ ok: false, error: { code: 'usage' } });
  });

  test('ends a call that no worker takes in time, and writes its receipt itself', async () => {
    const hasty = await stage.startFront('hasty', { waitMs: 1000 });
    const slow = [1, 2].map(() => run('in a cluster', ['test/slow', { seconds: 8 }]));
    await expect.poll(() => front.client.workers.find(({ name }) => name === 'w1')?.running).toBe(2);
    const outcome = await hasty.client.execute('test/echo', {}, { tenantName: 'acme', reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'busy' } },
    });
    expect(hasty.runtime.audit.show(outcome.call_id)).toBeDefined();
    for (const each of await Promise.all(slow)) expect(codeOf(each)).toBe('ok');
  });

  test('cancels a waiting call before it begins', async () => {
    const slow = [1, 2].map(() => run('in a cluster', ['test/slow', { seconds: 5 }]));
    await expect.poll(() => front.client.workers.find(({ name }) => name === 'w1')?.running).toBe(2);
    const controller = new AbortController();
    const waiting = run('in a cluster', ['test/echo', {}], {
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === 'accepted') controller.abort();
      },
    });
    expect(codeOf(await waiting)).toBe('cancelled');
    await Promise.all(slow);
  });

  test('sends a skill that the worker does not have by its digest, and the worker verifies it', async () => {
    const elsewhere = openFolder();
    const dir = writeSkill(elsewhere, {
      id: 'test/travels',
      source: `def execute(params):
    return {"came": "far"}`,
    });
    const { outcome } = await run('in a cluster', [dir, {}]);
    expect(outcome).toMatchObject({ ok: true, result: { came: 'far' } });
  });
});

test('a worker that is stopped finishes its calls first', async () => {
  const events: string[] = [];
  const call = run('in a cluster', ['test/slow', { seconds: 2 }], {
    onEvent: ({ type }) => {
      events.push(type);
    },
  });
  await expect.poll(() => events).toContain('log');
  await worker.kill('SIGTERM');
  expect(codeOf(await call)).toBe('ok');
  expect(worker.child.exitCode).toBe(0);
});

function codeOf({ outcome }: Ran): string {
  return outcome.ok ? 'ok' : outcome.error.code;
}
