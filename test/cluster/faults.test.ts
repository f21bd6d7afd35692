/**
 * Lost workers, front ends and servers: nothing runs twice, nothing is lost without a word, and all chains verify.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyCluster } from '../../src/api/cluster.ts';
import type { Outcome } from '../../src/index.ts';
import { openFolder } from '../write-skill.ts';
import { openCluster, type ClusterStage, type Front, type WorkerProcess } from './stage.ts';
import { writeWaitingSkill } from './waiting-skill.ts';

let stage: ClusterStage;
let front: Front;
let first: WorkerProcess;

beforeAll(async () => {
  const folder = openFolder();
  writeWaitingSkill(folder, 'test/slow', { seconds: 30 });
  writeWaitingSkill(folder, 'test/repeatable', { manifest: { idempotent: true } });
  stage = await openCluster({ folder, ackWaitMs: 4000 });
  first = await stage.startWorker('w1', ['--slots', '1']);
  front = await stage.startFront('front');
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Resolves once the skill has begun, with the call that goes on. */
async function begin(seconds: number): Promise<{ outcome: Promise<Outcome> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outcome = front.client.execute(
    'test/slow',
    { seconds },
    {
      tenantName: 'acme',
      reject: false,
      onEvent: ({ type }) => {
        if (type === 'log') resolve();
      },
    },
  );
  await Promise.race([promise, outcome]);
  return { outcome };
}

/** Without notice; comes back with its home. */
async function killFirstWorker(): Promise<void> {
  await first.kill('SIGKILL');
  first = await stage.startWorker('w1', ['--slots', '1']);
}

const codeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.code);

describe('a call', () => {
  test('survives a restart of the server while it runs', async () => {
    const { outcome } = await begin(6);
    const [server] = stage.servers;
    await server?.kill();
    await server?.start();
    expect(codeOf(await outcome)).toBe('ok');
  });

  test('whose worker is killed ends with outcome_unknown, and never runs again', async () => {
    const { outcome } = await begin(30);
    const second = await stage.startWorker('w2', ['--slots', '1']);
    await first.kill('SIGKILL');
    const ended = await outcome;
    expect(ended).toMatchObject({ ok: false, error: { code: 'outcome_unknown', detail: { worker: 'w1' } } });
    // The killed worker's journal becomes the receipt when it starts again with its home.
    first = await stage.startWorker('w1', ['--slots', '1']);
    const verified = await verifyCluster(stage.admin, { settleMs: 60_000 });
    expect(verified.problems).toEqual([]);
    await second.kill();
  });

  test.each([true, false])(
    'with an idempotency key whose worker was killed runs again only if its skill is idempotent: %s',
    async (idempotent) => {
      const skill = idempotent ? 'test/repeatable' : 'test/slow';
      const key = `key of ${skill}`;
      const events: string[] = [];
      const ask = (onEvent: (type: string) => void): Promise<Outcome> =>
        front.client.execute(
          skill,
          { seconds: 8 },
          {
            ...{ tenantName: 'acme', idempotencyKey: key, reject: false },
            onEvent: (event) => onEvent(event.type),
          },
        );
      const begun = Promise.withResolvers<void>();
      const first = ask((type) => {
        if (type === 'log') begun.resolve();
      });
      await begun.promise;
      await killFirstWorker();
      expect(codeOf(await first)).toBe('outcome_unknown');
      // Both requests get one call.
      const [again, also] = await Promise.all([ask((type) => events.push(type)), ask(() => undefined)]);
      expect(codeOf(again)).toBe(idempotent ? 'ok' : 'outcome_unknown');
      expect(also.call_id).toBe(again.call_id);
      expect(again.call_id === (await first).call_id).toBe(!idempotent);
      expect(events.filter((type) => type === 'accepted')).toHaveLength(1);
      expect(events.filter((type) => type === 'done')).toHaveLength(1);
      // Parameters are part of the request, also after that.
      const other = front.client.execute(
        skill,
        { seconds: 0 },
        { tenantName: 'acme', idempotencyKey: key, reject: false },
      );
      expect(codeOf(await other)).toBe('usage');
    },
  );

  test('that waits when no worker runs is taken by the next one', async () => {
    await first.kill();
    const waiting = front.client.execute('test/slow', { seconds: 0 }, { tenantName: 'acme', reject: false });
    first = await stage.startWorker('w1', ['--slots', '1']);
    expect(codeOf(await waiting)).not.toBe('outcome_unknown');
  });
});

describe('the audit of a cluster', () => {
  test('accepts the heads of an earlier run, and refuses heads that are not in a chain', async () => {
    const { ok, heads } = await verifyCluster(stage.admin, { settleMs: 30_000 });
    expect(ok).toBe(true);
    const again = await begin(0);
    await again.outcome;
    expect((await verifyCluster(stage.admin, { heads, settleMs: 30_000 })).problems).toEqual([]);
    const other = await verifyCluster(stage.admin, { heads: { ...heads, w1: 'f'.repeat(64) } });
    expect(other.problems).toEqual([expect.stringContaining('cut off or rebuilt')]);
  });

  test('finds a call that began and has no receipt, and a chain with a forged row', async () => {
    const { Kvm } = await import('@nats-io/kv');
    const { jetstream } = await import('@nats-io/jetstream');
    const marks = await new Kvm(stage.admin).open('sc_marks');
    const id = '01JD8Z5K3V9T4S7Q2M6N0P1R8W';
    await marks.put(`acme.${id}`, JSON.stringify({ state: 'done', by: 'w1', nonce: 'x' }));
    const row = { seq: 1, prev: '0'.repeat(64), hash: 'a'.repeat(64), body: '{"call_id":"x"}' };
    await jetstream(stage.admin).publish('sc.receipt.forger', JSON.stringify(row));
    const { ok, problems } = await verifyCluster(stage.admin, { settleMs: 1000 });
    expect(ok).toBe(false);
    expect(problems).toEqual([
      expect.stringContaining('The chain of "forger" is broken at receipt 1'),
      expect.stringContaining(`The call ${id} has no receipt`),
    ]);
  });
});
