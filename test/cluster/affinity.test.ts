/**
 * Calls of a tenant go to an idle worker that ran one before, and at once to any other if that one is busy.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allRows } from '../../src/cluster/receipts.ts';
import type { Outcome } from '../../src/index.ts';
import { openFolder } from '../write-skill.ts';
import { openCluster, type ClusterStage, type Front } from './stage.ts';
import { writeWaitingSkill } from './waiting-skill.ts';

const PATIENT = { timeout: 60_000 };

let stage: ClusterStage;
let front: Front;

beforeAll(async () => {
  const folder = openFolder();
  writeWaitingSkill(folder, 'test/waits', { result: '1' });
  stage = await openCluster({ folder });
  for (const name of ['w1', 'w2', 'w3']) await stage.startWorker(name, ['--slots', '1']);
  front = await stage.startFront('front');
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

function call(tenantName: string, seconds = 0, onLog?: () => void): Promise<Outcome> {
  return front.client.execute(
    'test/waits',
    { seconds },
    {
      ...{ tenantName, reject: false },
      onEvent: ({ type }) => {
        if (type === 'log') onLog?.();
      },
    },
  );
}

/** From the receipts, which only the worker that ran a call can write. */
async function workersOf(outcomes: readonly Outcome[]): Promise<string[]> {
  const ids = outcomes.map(({ call_id: id }) => id);
  const writers = new Map<string, string>();
  await expect
    .poll(async () => {
      for await (const { writer, row } of allRows(stage.admin))
        if (row) writers.set((JSON.parse(row.body) as { call_id: string }).call_id, writer);
      return ids.every((id) => writers.has(id));
    }, PATIENT)
    .toBe(true);
  return ids.map((id) => writers.get(id) ?? '');
}

// All three wait for a call, so the servers choose. Of several workers that wait alike, they choose the first that came.
test('every call of a tenant goes to the worker of its first one while that is idle', async () => {
  const outcomes: Outcome[] = [];
  const manager = await jetstreamManager(stage.admin);
  for (let round = 0; round < 6; round++) {
    await expect
      .poll(async () => (await manager.consumers.info('SC_CALLS', 'P-default-acme')).num_waiting, PATIENT)
      .toBe(3);
    const outcome = await call('acme');
    expect(outcome).toMatchObject({ ok: true });
    outcomes.push(outcome);
  }
  expect(new Set(await workersOf(outcomes)).size).toBe(1);
});

test('a call does not wait for its warm worker while another is idle', async () => {
  const begun = Promise.withResolvers<void>();
  const long = call('acme', 15, begun.resolve);
  await begun.promise;
  const others = await Promise.all([call('acme'), call('umbrella')]);
  expect(front.client.workers.some(({ running }) => running > 0)).toBe(true);
  for (const outcome of others) expect(outcome).toMatchObject({ ok: true });
  const [warm = '', ...rest] = await workersOf([await long, ...others]);
  expect(rest).not.toContain(warm);
});
