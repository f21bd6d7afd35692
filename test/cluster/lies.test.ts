/**
 * What processes of a cluster say that is not true, or not in the right shape: each is refused or reported, and nothing else
 * stops because of it.
 */
import { hash } from 'node:crypto';
import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyCluster } from '../../src/api/cluster.ts';
import { chainHash, GENESIS } from '../../src/audit/queries.ts';
import { createCallIds } from '../../src/audit/call-id.ts';
import { ClientCall, type Ending } from '../../src/cluster/client-call.ts';
import { writeFrame } from '../../src/cluster/frame.ts';
import { Marks, openBucket } from '../../src/cluster/marks.ts';
import { readCall, readReply } from '../../src/cluster/messages.ts';
import { storeOf, subjects } from '../../src/cluster/names.ts';
import { TenantObjects } from '../../src/cluster/objects.ts';
import { ANNOUNCE_MS, Fleet } from '../../src/cluster/placement.ts';
import { Stores } from '../../src/cluster/stores.ts';
import type { Outcome } from '../../src/index.ts';
import { openFolder } from '../write-skill.ts';
import { openCluster, type ClusterStage, type Front } from './stage.ts';
import { writeWaitingSkill } from './waiting-skill.ts';

let stage: ClusterStage;
let front: Front;
let client: JetStreamClient;

const acme = { tenantName: 'acme', reject: false } as const;
const codeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.code);

beforeAll(async () => {
  const folder = openFolder();
  writeWaitingSkill(folder, 'test/slow', { result: '"done"' });
  stage = await openCluster({ folder, queue: 3 });
  client = jetstream(stage.admin);
  await stage.startWorker('w1', ['--slots', '1']);
  front = await stage.startFront('front');
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Occupies the only place, until the promise resolves. */
async function occupy(seconds: number): Promise<{ ended: Promise<Outcome> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onEvent = ({ type }: { type: string }): void => {
    if (type === 'log') resolve();
  };
  const ended = front.client.execute('test/slow', { seconds }, { ...acme, onEvent });
  await Promise.race([promise, ended]);
  return { ended };
}

describe('an idempotency key', () => {
  test('whose call was cancelled before it began can be used again, and each call has one receipt', async () => {
    const second = await stage.startFront('second');
    const { ended } = await occupy(4);
    const keyed = { ...acme, idempotencyKey: 'cancelled' };
    const stop = new AbortController();
    const first = front.client.execute('test/slow', {}, { ...keyed, signal: stop.signal });
    // Both wait for the call of the first.
    const repeated = second.client.execute('test/slow', {}, keyed);
    setTimeout(() => stop.abort(), 1500);
    expect(codeOf(await first)).toBe('cancelled');
    expect(codeOf(await repeated)).toBe('cancelled');
    expect(codeOf(await ended)).toBe('ok');
    expect(codeOf(await second.client.execute('test/slow', {}, keyed))).toBe('ok');
    expect(codeOf(await front.client.execute('test/slow', {}, keyed))).toBe('ok');
    expect((await verifyCluster(stage.admin, { settleMs: 60_000 })).problems).toEqual([]);
  });

  test('whose call found no free worker in time can be used again', async () => {
    const hasty = await stage.startFront('hasty', { waitMs: 1000 });
    const { ended } = await occupy(6);
    const keyed = { ...acme, idempotencyKey: 'late' };
    expect(codeOf(await hasty.client.execute('test/slow', {}, keyed))).toBe('resource_exceeded');
    await ended;
    expect(codeOf(await front.client.execute('test/slow', {}, keyed))).toBe('ok');
    expect((await verifyCluster(stage.admin, { settleMs: 60_000 })).problems).toEqual([]);
  });
});

test('a worker whose clock is fast gives calls back, so that others run them', async () => {
  const skew = 'const now = Date.now; Date.now = () => now() + 3_600_000;';
  const preload = `--import=data:text/javascript,${encodeURIComponent(skew)}`;
  const fast = await stage.startWorker('fast', ['--slots', '8'], { NODE_OPTIONS: preload });
  for (let at = 0; at < 3; at++) expect(codeOf(await front.client.execute('test/slow', {}, acme))).toBe('ok');
  await fast.kill();
});

describe('the queue of a tenant', () => {
  test('is bounded for all its skills together, and does not fill that of another', async () => {
    const pool = 'nobody';
    for (let at = 0; at < 3; at++) await client.publish(subjects.job(pool, 'acme'), 'x');
    await expect(client.publish(subjects.job(pool, 'acme'), 'x')).rejects.toThrow(/maximum messages/);
    await client.publish(subjects.job(pool, 'umbrella'), 'x');
    const other = client.publish(`${subjects.job(pool, 'acme')}.other`, 'x', { timeout: 1000, retries: 0 });
    await expect(other).rejects.toThrow();
  });
});

describe('an announcement', () => {
  test('only counts for the pool and the tenant in its subject', async () => {
    const heard = stage.admin.subscribe('sc.worker.default._.w1', { max: 1 });
    let honest: Record<string, unknown> = {};
    for await (const message of heard) honest = message.json();
    const fleet = new Fleet(stage.admin);
    const lie = { ...honest, name: 'liar', policy: 'a'.repeat(64) };
    const say = (subject: string, body: object): void => stage.admin.publish(subject, JSON.stringify(body));
    say('sc.worker.other.umbrella.liar', lie);
    say('sc.worker.default.umbrella.liar', { ...lie, name: 'w1' });
    say('sc.worker.default.umbrella.liar', lie);
    while (!fleet.workers.some(({ name }) => name === 'liar'))
      await new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS / 10));
    const found = fleet.workers.map(({ name, pool, tenants }) => ({ name, pool, tenants }));
    expect(found).toContainEqual({ name: 'liar', pool: 'default', tenants: ['umbrella'] });
    expect(found).toContainEqual({ name: 'w1', pool: 'default', tenants: undefined });
    fleet.close();
    // A pool is refused if its policies differ, so this would stop the calls of acme.
    expect(codeOf(await front.client.execute('test/slow', {}, acme))).toBe('ok');
    const stopped = { tenantName: 'umbrella', reject: false } as const;
    expect(codeOf(await front.client.execute('test/slow', {}, stopped))).toBe('skill_unavailable');
  });
});

describe('a message', () => {
  const head = {
    ...{ v: 1, id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', front: 'front', caller: 'c', isolated: true },
    beginBefore: 1,
    skill: { name: 'test/slow', digest: 'a'.repeat(64) },
  };
  test.each(['/etc/passwd', '../secret', './x', 'test/../x', 'oci://x/y', 'C:\\x', 'test/slow/more', 'slow'])(
    'cannot name a skill by a path or an address: %s',
    (name) => {
      expect(readCall(writeFrame(head)).head.skill.name).toBe('test/slow');
      const skill = { ...head.skill, name };
      expect(() => readCall(writeFrame({ ...head, skill }))).toThrow(/malformed/);
    },
  );

  const usage = { wall_ms: 1, cpu_ms: 1, memory_peak_bytes: 1, fuel: 0, output_bytes: 1, host_calls: 0 };
  const outcome = {
    ...{ ok: true, call_id: head.id, skill: { name: 'a/b', version: '1', digest: 'x' }, usage },
    ...{ capabilities: { used: [], denied: [] }, logs: '', warnings: [] },
  };
  const { cpu_ms: _, ...withoutCpu } = usage;
  test.each([
    ['negative CPU time', { ...usage, cpu_ms: -1e9 }],
    ['negative output', { ...usage, output_bytes: -1 }],
    ['no CPU time', withoutCpu],
    ['text', { ...usage, cpu_ms: '1' }],
  ])('cannot give back what a tenant has used: %s', (_name, given) => {
    expect(readReply(writeFrame({ type: 'done', outcome })).reply.type).toBe('done');
    const lie = { type: 'done', outcome: { ...outcome, usage: given } };
    expect(() => readReply(writeFrame(lie))).toThrow(/malformed/);
  });
});

describe('an object', () => {
  const meta = (name: string): string => {
    const encoded = Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    return `$O.${storeOf('acme')}.M.${encoded}`;
  };
  const digestOf = (text: string): string => `SHA-256=${hash('sha256', text, 'base64url')}=`;
  const read = async (name: string): Promise<string | undefined> => {
    const objects = new TenantObjects(stage.admin, storeOf('acme'));
    const info = await objects.info(name);
    return info && (await objects.read(info)).toString();
  };
  const describeAs = (name: string, info: object): Promise<unknown> =>
    client.publish(meta(name), JSON.stringify({ name, bucket: storeOf('acme'), ...info }));

  test('is read as it was written, and is gone when it was dropped', async () => {
    const objects = new TenantObjects(stage.admin, storeOf('acme'));
    const text = 'x'.repeat(300_000);
    await objects.put('fine', Buffer.from(text));
    expect(await read('fine')).toBe(text);
    await objects.put('fine', Buffer.from('shorter'));
    expect(await read('fine')).toBe('shorter');
    await objects.drop('fine');
    expect(await read('fine')).toBeUndefined();
    await objects.put('empty', Buffer.from(''));
    expect(await read('empty')).toBe('');
  });

  test('that is a link to the store of another tenant is not followed', async () => {
    const other = new TenantObjects(stage.admin, storeOf('umbrella'));
    await other.put('secret', Buffer.from('of umbrella'));
    const link = { bucket: storeOf('umbrella'), name: 'secret' };
    await describeAs('link', { nuid: 'abc', size: 0, digest: '', options: { link } });
    await expect(read('link')).rejects.toThrow(/it is a link/);
  });

  test.each([
    { name: 'larger than it says', size: 2, digest: digestOf('ab'), problem: /larger than its size/ },
    { name: 'smaller than it says', size: 9, digest: digestOf('abc'), problem: /parts of it are missing/ },
    { name: 'of other bytes', size: 3, digest: digestOf('abd'), problem: /digests do not match/ },
  ])('that is $name is refused', async ({ name, size, digest, problem }) => {
    const nuid = hash('sha256', name, 'hex').slice(0, 22);
    await client.publish(`$O.${storeOf('acme')}.C.${nuid}`, 'abc');
    await describeAs(name, { nuid, size, digest });
    await expect(read(name)).rejects.toThrow(problem);
  });

  test.each([{ nuid: 'a.>', size: 1, digest: '' }, { nuid: 'a', size: -1, digest: '' }, {}])(
    'with a description like %j is refused',
    async (info) => {
      await describeAs('odd', info);
      await expect(read('odd')).rejects.toThrow(/description is not valid/);
    },
  );
});

describe('the verification of a fleet', () => {
  const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const problemsNow = async (): Promise<string[]> =>
    (await verifyCluster(stage.admin, { settleMs: 20 })).problems;

  test('reports a mark and a receipt that cannot be read, and goes on', async () => {
    const before = await verifyCluster(stage.admin, { settleMs: 60_000 });
    await client.publish('$KV.sc_marks.acme.X', 'not a mark');
    await client.publish('sc.receipt.broken', 'not a receipt');
    const after = await verifyCluster(stage.admin, { settleMs: 20 });
    expect(after.problems.filter((one) => !before.problems.includes(one))).toEqual([
      'The mark of the call X cannot be read',
      'The chain of "broken" has a message that is not a receipt',
    ]);
    expect(after.receipts).toBe(before.receipts);
  });

  test('does not take the receipt of another worker for the one that is missing', async () => {
    const mark = { state: 'begun', by: 'w7', nonce: 'n' };
    await client.publish(`$KV.sc_marks.acme.${ID}`, JSON.stringify(mark));
    const missing = `The call ${ID} has no receipt in the chain of "w7", which began it`;
    expect(await problemsNow()).toContain(missing);
    const body = JSON.stringify({ call_id: ID });
    const row = { seq: 1, prev: GENESIS, hash: chainHash(GENESIS, body), body };
    await client.publish('sc.receipt.forger', JSON.stringify(row));
    expect(await problemsNow()).toContain(missing);
    await client.publish('sc.receipt.w7', JSON.stringify(row));
    expect(await problemsNow()).toContain(`The call ${ID} has two receipts`);
  });
});

describe('a worker that lies about a call', () => {
  const usage = { wall_ms: 1, cpu_ms: 1, memory_peak_bytes: 1, fuel: 0, output_bytes: 1, host_calls: 0 };
  const digest = 'a'.repeat(64);

  /** A call that only the test answers, until it ends. */
  async function answered(answers: (id: string) => Uint8Array[]): Promise<Ending> {
    const id = createCallIds()();
    const head = {
      ...{ v: 1 as const, id, front: 'front9', skill: { name: 'test/slow', digest }, caller: 'c' },
      ...{ isolated: true, beginBefore: Date.now() + 500 },
    };
    const parts = {
      connection: stage.admin,
      runtime: front.runtime,
      marks: await Marks.open(stage.admin, 'front9'),
      stores: new Stores(stage.admin),
    };
    const call = new ClientCall(parts, {
      ...{
        head,
        tenant: 'acme',
        signal: undefined,
        isRepeated: false,
        onReply: () => undefined,
        runMs: 3000,
      },
    });
    await new Marks(await openBucket(stage.admin, 'sc_marks'), 'w9').take(
      { tenant: 'acme', id },
      'begun',
      20_000,
    );
    const subject = subjects.reply('acme', 'front9', id);
    const heard = stage.admin.subscribe(subject, { callback: (_, message) => call.hear(message) });
    const says = setInterval(() => answers(id).forEach((one) => stage.admin.publish(subject, one)), 100);
    try {
      return await call.wait();
    } finally {
      clearInterval(says);
      heard.unsubscribe();
    }
  }

  test('and says for ever that it runs is not believed longer than the call may take', async () => {
    const ending = await answered(() => [writeFrame({ type: 'alive', worker: 'w9' })]);
    expect(ending).toMatchObject({ outcome: { error: { code: 'outcome_unknown' } } });
  });

  test.each([
    ['another name', { name: 'test/other', version: '1', digest }],
    ['another digest', { name: 'test/slow', version: '1', digest: 'b'.repeat(64) }],
  ])('cannot answer with the outcome of a skill with %s', async (_, skill) => {
    const done = (id: string, given: object): Uint8Array => {
      const outcome = { ok: true, call_id: id, skill: given, usage, logs: '', warnings: [] };
      const capabilities = { used: [], denied: [] };
      return writeFrame({ type: 'done', outcome: { ...outcome, capabilities } }, Buffer.from('"forged"'));
    };
    expect(await answered((id) => [done(id, skill)])).toMatchObject({
      outcome: { error: { code: 'outcome_unknown' } },
    });
    const honest = { name: 'test/slow', version: '1', digest };
    expect(await answered((id) => [done(id, honest)])).toMatchObject({ outcome: { result: 'forged' } });
  });
});
