/**
 * Requests of a cell to call skills, honest and forged. Whatever a cell sends, the broker answers or refuses, and nothing of
 * it outlives the call.
 */
import { describe, expect, test } from 'vitest';
import { Records } from '../../src/broker/records.ts';
import { SkillBroker } from '../../src/broker/skills.ts';
import {
  BrokerRefusal,
  type BrokerReply,
  type InnerAnswer,
  type InnerCalls,
} from '../../src/cell/contract.ts';

const DENIED: InnerAnswer = {
  ...{ ok: false, code: 'capability_denied', message: 'no', fix: 'none' },
  denied: { capability: 'skill', asked: 'call a/no', declared: 'not given' },
};

interface Made {
  name: string;
  signal: AbortSignal;
  end: (answer: InnerAnswer) => void;
}

/** Calls that the test ends itself; `a/no` is denied at once. */
function open(): { broker: SkillBroker; made: Made[]; records: Records } {
  const made: Made[] = [];
  const inner: InnerCalls = {
    declared: () => 'a/*',
    call: (name, _, signal) => {
      if (name === 'a/no') return Promise.resolve(DENIED);
      const { promise, resolve } = Promise.withResolvers<InnerAnswer>();
      made.push({ name, signal, end: resolve });
      return promise;
    },
  };
  const records = new Records();
  return { broker: new SkillBroker(inner, records), made, records };
}

const ok = (text: string): InnerAnswer => ({ ok: true, result: Buffer.from(text) });
const ask = (
  broker: SkillBroker,
  op: string,
  { payload = Buffer.from('{}'), ...args }: Record<string, unknown> & { payload?: Buffer } = {},
): Promise<BrokerReply | undefined> => broker.handle({ op, args, payload });
const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'answered',
    (error: unknown) => (error instanceof BrokerRefusal ? error.code : error),
  );

describe('calls of skills through the broker', () => {
  test('answer with the result behind the reply, or with code, message and fix', async () => {
    const { broker, made, records } = open();
    const call = ask(broker, 'skill.call', { name: 'a/b' });
    made[0]?.end(ok('5'));
    expect(await call).toEqual({ value: { ok: true }, payload: Buffer.from('5') });
    const { value } = (await ask(broker, 'skill.call', { name: 'a/no' })) ?? {};
    expect(value).toEqual({ ok: false, code: 'capability_denied', message: 'no', fix: 'none' });
    expect(records.used).toEqual([{ capability: 'skill', asked: 'call a/b', declared: 'a/*' }]);
    expect(records.denied).toEqual([{ capability: 'skill', asked: 'call a/no', declared: 'not given' }]);
  });

  test('that were started are waited for in the order of their end, and each answer is given out once', async () => {
    const { broker, made } = open();
    const ids: unknown[] = [];
    for (const name of ['a/one', 'a/two'])
      ids.push((await ask(broker, 'skill.start', { name }))?.value['call']);
    const first = ask(broker, 'skill.wait');
    made[1]?.end(ok('2'));
    expect((await first)?.value).toEqual({ ok: true, call: ids[1] });
    made[0]?.end(ok('1'));
    const both = await Promise.all([1, 2].map(() => codeOf(ask(broker, 'skill.wait', { calls: [ids[0]] }))));
    expect(new Set(both)).toEqual(new Set(['answered', 'inval']));
    expect(await codeOf(ask(broker, 'skill.wait', { calls: ids }))).toBe('inval');
  });

  test('end with the call that made them, and none begins afterwards', async () => {
    const { broker, made } = open();
    const running = ask(broker, 'skill.call', { name: 'a/b' });
    await ask(broker, 'skill.start', { name: 'a/c' });
    const waiting = codeOf(ask(broker, 'skill.wait'));
    broker.close();
    expect(made.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(await waiting).toBe('inval');
    expect(await codeOf(ask(broker, 'skill.call', { name: 'a/b' }))).toBe('inval');
    expect(made).toHaveLength(2);
    made[0]?.end(ok('late'));
    await running;
  });

  test('are cancelled one by one', async () => {
    const { broker, made } = open();
    const id = (await ask(broker, 'skill.start', { name: 'a/b' }))?.value['call'];
    await ask(broker, 'skill.start', { name: 'a/c' });
    await ask(broker, 'skill.cancel', { call: id });
    await ask(broker, 'skill.cancel', { call: 'nothing' });
    expect(made.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  test.each([
    ['a name that is no text', 'skill.call', { name: { toString: 'a/b' } }],
    ['no name', 'skill.call', {}],
    ['a name of a megabyte', 'skill.call', { name: 'a/'.repeat(500_000) }],
    ['a list that is none', 'skill.wait', { calls: 'all' }],
    ['a list with other things', 'skill.wait', { calls: [{}, null, 1.5] }],
    ['a list that is too long', 'skill.wait', { calls: Array.from({ length: 1000 }, (_, at) => at) }],
    ['a wait for nothing', 'skill.wait', {}],
    ['a wait for a call of nobody', 'skill.wait', { calls: [7] }],
  ])('refuse %s', async (_, op, args) => {
    const { broker, made } = open();
    expect(await codeOf(ask(broker, op, args))).toBe('inval');
    expect(made).toEqual([]);
  });

  test('refuse parameters that are too large, and more started calls than may wait', async () => {
    const { broker, made } = open();
    const huge = await ask(broker, 'skill.call', { name: 'a/b', payload: Buffer.alloc(5 * 1024 * 1024) });
    expect(huge?.value).toMatchObject({ ok: false, code: 'invalid_params' });
    for (let at = 0; at < 256; at++) await ask(broker, 'skill.start', { name: 'a/b' });
    expect((await ask(broker, 'skill.start', { name: 'a/b' }))?.value).toMatchObject({
      code: 'resource_exceeded',
    });
    expect(made).toHaveLength(256);
  });

  test('are denied to a call that has no way to make any, and recorded on one line', async () => {
    const records = new Records();
    const broker = new SkillBroker(undefined, records);
    const reply = await ask(broker, 'skill.call', { name: 'a/b\nnetwork' });
    expect(reply?.value).toMatchObject({ ok: false, code: 'capability_denied' });
    expect(records.denied).toEqual([
      { capability: 'skill', asked: String.raw`call a/b\nnetwork`, declared: 'not declared' },
    ]);
    expect(await ask(broker, 'read', {})).toBeUndefined();
  });
});
