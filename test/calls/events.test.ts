/**
 * Events of calls, for listeners of all calls and of one call.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { Dispatcher } from '../../src/inside.ts';
import type { CallEvent, CallEventName, Runtime } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime({
  pool: { size: 0 },
  secrets: () => 'key-of-the-test',
});
afterAll(close);

const HELLO = { source: 'def execute(params):\n    print("hällo")\n    return 1\n' };
const NAMES: CallEventName[] = ['accepted', 'started', 'log', 'denied', 'limit', 'done'];

function listenToAll(to: Runtime): { events: CallEvent[]; stop: () => void } {
  const events: CallEvent[] = [];
  const stops = NAMES.map((name) => to.on(name, (event) => void events.push(event)));
  return { events, stop: () => stops.forEach((stop) => stop()) };
}

/** Resolves with the first event of this kind. */
function first<Name extends CallEventName>(name: Name): Promise<CallEvent<Name>> {
  return new Promise((resolve) => {
    const stop = runtime.on(name, (event) => {
      stop();
      resolve(event);
    });
  });
}

describe('the events of a call', () => {
  test('arrive in order for all listeners, with the id of its outcome', async () => {
    const { events, stop } = listenToAll(runtime);
    const own: CallEvent[] = [];
    const outcome = await runtime.execute(
      writeSkill(folder, HELLO),
      {},
      { caller: 'me', onEvent: (event) => own.push(event) },
    );
    stop();
    expect(events.map(({ type }) => type)).toEqual(['accepted', 'started', 'log', 'done']);
    expect(own).toEqual(events);
    for (const { call } of events) expect(call).toMatchObject({ id: outcome.call_id, caller: 'me' });
    expect(events[1]).toMatchObject({
      skill: outcome.skill,
      execution: { mode: 'subprocess', wall: 'jail' },
    });
    expect(events[2]).toMatchObject({ text: 'hällo\n' });
    expect(events[3]).toMatchObject({ outcome });
  });

  test('include every denial and the limit that ended the call', async () => {
    const { events, stop } = listenToAll(runtime);
    const nosy = 'def execute(params):\n    return open("/etc/passwd").read()\n';
    await runtime.execute(writeSkill(folder, { source: nosy }), {}, { reject: false });
    const slow = 'import time\ndef execute(params):\n    time.sleep(20)\n';
    await runtime.execute(writeSkill(folder, { source: slow }), {}, { reject: false, timeout: 300 });
    stop();
    expect(events.filter(({ type }) => type === 'denied')).toMatchObject([
      { denial: { asked: 'read /etc/passwd' } },
    ]);
    expect(events.filter(({ type }) => type === 'limit')).toMatchObject([
      { limit: 'timeout', error: { code: 'resource_exceeded' } },
    ]);
  });

  test('include a start and an end for a call that never ran', async () => {
    const { events, stop } = listenToAll(runtime);
    await runtime.execute('no/such_skill', {}, { reject: false });
    stop();
    expect(events.map(({ type }) => type)).toEqual(['accepted', 'done']);
  });

  test('stop when the listener is removed, and a listener that throws does no harm', async () => {
    const heard: string[] = [];
    const warned = new Promise((resolve) => process.once('warning', resolve));
    const stops = [
      runtime.on('done', () => {
        throw new Error('a fault of the listener');
      }),
      runtime.on('done', ({ outcome }) => heard.push(outcome.call_id)),
    ];
    const { call_id: id } = await runtime.execute(writeSkill(folder, HELLO), {});
    expect(heard).toEqual([id]);
    await expect(warned).resolves.toMatchObject({ message: 'a fault of the listener' });
    stops.forEach((stop) => stop());
    await runtime.execute(writeSkill(folder, HELLO), {});
    expect(heard).toHaveLength(1);
  });
});

describe('the logs of a call', () => {
  const python = 'import time\ndef execute(params):\n    print("first", flush=True)\n    time.sleep(30)\n';
  const script = 'export function execute() {\n  console.log("first");\n  for (;;);\n}\n';

  test.each([
    ['a process', { manifest: { execution: ['subprocess'] }, source: python }],
    ['an instance', { manifest: { execution: ['wasm'] }, files: { 'skill.js': script } }],
  ])('in %s are delivered while the call runs', async (_where, text) => {
    const patience = new AbortController();
    const heard = first('log');
    const running = runtime.execute(writeSkill(folder, text), {}, { signal: patience.signal, reject: false });
    expect((await heard).text).toContain('first');
    expect(runtime.running.map(({ execution }) => execution?.mode)).toEqual(text.manifest.execution);
    patience.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(runtime.running).toEqual([]);
  });

  test('with secrets are delivered after the call, without the secrets', async () => {
    const texts: string[] = [];
    const manifest = {
      capabilities: { network: [{ host: 'example.org', scheme: 'http' }] },
      env_vars: { API_KEY: { required: true, secret: true, hosts: ['example.org'] } },
    };
    // Cells never hold the value; this skill has it from another source.
    const source = 'def execute(params):\n    print("key-of-")\n    print("key-of-the-test")\n    return 1\n';
    const skill = writeSkill(folder, { manifest, source });
    await runtime.execute(
      skill,
      {},
      { onEvent: (event) => void (event.type === 'log' && texts.push(event.text)) },
    );
    expect(texts).toEqual(['key-of-\n[secret API_KEY]\n']);
  });
});

describe('the slot of a call', () => {
  test('is acquired before the call runs and released when it is over', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 5 } });
    const entry = { tenant: 'a', skill: 'x/y' };
    const held = await dispatcher.enter(entry);
    const call = runtime.execute(writeSkill(folder, HELLO), {}, { turn: dispatcher.enter(entry) });
    expect(runtime.running).toMatchObject([{ execution: undefined }]);
    expect(dispatcher.load).toMatchObject({ running: 1, waiting: 1 });
    held[Symbol.dispose]();
    await call;
    expect(dispatcher.load).toMatchObject({ running: 0, waiting: 0 });
  });

  test('that is no longer wanted ends the call with a receipt', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 5 } });
    const patience = new AbortController();
    await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    const turn = dispatcher.enter({ tenant: 'a', skill: 'x/y', signal: patience.signal });
    const call = runtime.execute(writeSkill(folder, HELLO), {}, { turn, reject: false });
    patience.abort();
    const outcome = await call;
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(runtime.audit.show(outcome.call_id)?.receipt.code).toBe('cancelled');
  });
});
