import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { CellReport, GuestReply, LaunchSpec } from '../../../src/cell/contract.ts';
import { heapLimitBehind } from '../../../src/cell/engines/node-process/heap-limit.ts';
import { ProcessWall } from '../../../src/cell/walls/process/wall.ts';
import { WarmCell } from '../../../src/cell/protocol/warm-cell.ts';
import type { WarmPlace } from '../../../src/cell/protocol/start-warm.ts';
import type { Grant } from '../../../src/policy/grant.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';
import { AnsweringBroker, POLITE, scriptedPlace } from '../scripted-cell.ts';

const folder = openFolder();
const wall = new ProcessWall();
let scripts = 0;

afterAll(async () => {
  await wall.close();
  removeFolder(folder);
});

function place(body: string, more: Partial<Parameters<typeof scriptedPlace>[2]> = {}): WarmPlace {
  return scriptedPlace(folder, wall, { name: `script-${++scripts}`, body, ...more });
}

function start({ wall: outer, artifact, grant, openBroker }: WarmPlace): WarmCell {
  return new WarmCell({ process: outer.launch(artifact.spec(grant), grant), artifact, grant, openBroker });
}

function valueOf({ reply }: CellReport): unknown {
  return reply?.kind === 'result' ? reply.value : reply;
}

const broken = (words: string): GuestReply => ({
  kind: 'broken',
  message: expect.stringContaining(words) as unknown as string,
});

describe('a warm cell', () => {
  it('serves one call after the other, and reports how each started', async () => {
    const cell = start(place(POLITE));
    const first = await cell.call({ n: 1 });
    const second = await cell.call({ n: 2 });
    expect([valueOf(first), valueOf(second)]).toMatchObject([{ n: 1 }, { n: 2 }]);
    expect([first.start, second.start]).toEqual(['cold', 'warm']);
    const ahead = start(place(POLITE));
    expect(await ahead.ready).toBe(true);
    expect((await ahead.call({})).start).toBe('pool');
  });

  it('reports the death of its process during a call', async () => {
    const cell = start(place(POLITE));
    const report = await cell.call({ crash: true });
    expect(report).toMatchObject({
      started: true,
      reply: undefined,
      exit: { code: 7 },
      killReason: undefined,
    });
    expect(cell.isDead).toBe(true);
  });

  it('reports a full heap of its process as the limit "memory", not as a crash of the skill', async () => {
    const filling = place(`
      onCall = () => { const held = []; for (;;) held.push({ more: [held.length] }); };
      send({ t: 'ready' });
    `);
    const artifact = {
      ...filling.artifact,
      spec: (grant: Grant): LaunchSpec => {
        const spec = filling.artifact.spec(grant);
        return { ...spec, argv: spec.argv.toSpliced(1, 0, '--max-old-space-size=16') };
      },
      limitBehind: heapLimitBehind,
    };
    const report = await start({ ...filling, artifact }).call({});
    expect(report.reply).toMatchObject({ kind: 'error', limit: 'memory' });
    expect(report.killReason).toBeUndefined();
  });

  it('keeps a result whose process dies right after it', async () => {
    const cell = start(
      place(
        "onCall = (p, call) => raw(answer('last words', call), () => process.exit(3)); send({ t: 'ready' });",
      ),
    );
    expect(valueOf(await cell.call({}))).toBe('last words');
  });

  it('distinguishes a process that did not start from a skill that failed', async () => {
    const dead = await start(place("console.error('no way'); process.exit(1);")).call({});
    expect(dead).toMatchObject({ started: false, reply: undefined, exit: { code: 1 } });
    expect(dead.logs).toContain('no way');
    const unlinked = start(
      place(
        "onInit = () => send({ t: 'failed', type: 'LinkError', message: 'what is that' }); send({ t: 'ready' });",
      ),
    );
    expect(await unlinked.call({})).toMatchObject({
      started: true,
      reply: { kind: 'error', type: 'LinkError', message: 'what is that' },
    });
  });

  it.each([
    ['asleep', 'onCall = () => undefined;', 300],
    ['busy', 'onCall = () => { for (;;); };', 300],
  ])('is killed at the timeout while it is %s', async (_, behaviour, timeout) => {
    const cell = start(place(`${behaviour} send({ t: 'ready' });`, { limits: { timeout } }));
    await cell.ready;
    const report = await cell.call({});
    expect(report).toMatchObject({ killReason: 'timeout', reply: undefined });
    expect(cell.isDead).toBe(true);
  });

  it('does not wait longer than the timeout for a process that never becomes ready', async () => {
    const report = await start(
      place('setInterval(() => undefined, 1000);', { limits: { timeout: 300 } }),
    ).call({});
    expect(report).toMatchObject({ killReason: 'timeout', started: false });
  });

  it('kills a call that exceeds its CPU time', async () => {
    const cell = start(
      place("onCall = () => { for (;;); }; send({ t: 'ready' });", { limits: { cpu: 200 } }),
    );
    expect((await cell.call({})).killReason).toBe('cpu');
  });

  it('is killed when the call is cancelled, before or during it', async () => {
    const busy = start(place(POLITE));
    expect((await busy.call({ sleep: 5000 }, AbortSignal.timeout(200))).killReason).toBe('aborted');
    expect((await start(place(POLITE)).call({}, AbortSignal.abort())).killReason).toBe('aborted');
  });
});

describe('the protocol of a warm cell', () => {
  it.each([
    ['a result for another call', "raw(answer('forged', call + 1))", 'out of order'],
    ['a result without a call', "send({ t: 'result' }, Buffer.from('1'))", 'out of order'],
    ['a second "ready"', "send({ t: 'ready' })", 'out of order'],
    ['a second "loaded"', "send({ t: 'loaded' })", 'out of order'],
    ['"failed" after it was ready', "send({ t: 'failed' })", 'out of order'],
    ['a frame of an unknown kind', "send({ t: 'toString' })", 'out of order'],
    ['a frame that is not an object', 'raw(Buffer.from([2, 0, 0, 0, 91, 93]))', 'not an object'],
    ['a frame that is not JSON', 'raw(Buffer.from([2, 0, 0, 0, 91, 91]))', ''],
    [
      'a log frame with other fields',
      "send({ t: 'log', more: 'x'.repeat(1000) }, Buffer.from('x'))",
      'out of order',
    ],
    ['an invalid byte count', "send({ t: 'log', payload_bytes: -1 })", 'byte count'],
  ])('is broken by %s', async (_, act, words) => {
    const cell = start(place(`onCall = (params, call) => { ${act}; }; send({ t: 'ready' });`));
    expect(await cell.call({})).toMatchObject({ killReason: 'protocol', reply: broken(words) });
    expect(cell.isDead).toBe(true);
  });

  it('is broken by a frame larger than the limit', async () => {
    const huge = place("onCall = () => raw(Buffer.from([255, 255, 255, 127])); send({ t: 'ready' });");
    expect((await start(huge).call({})).killReason).toBe('output');
  });

  it.each([
    ['a result before the call', "send({ t: 'ready' }); raw(answer('early', 1));"],
    ['"loaded" before the first frame', "send({ t: 'ready' }); send({ t: 'loaded' });"],
    ['a log before "ready"', "send({ t: 'log' }, Buffer.from('x')); send({ t: 'ready' });"],
  ])('is broken by %s', async (_, body) => {
    const report = await start(place(body)).call({});
    expect(report.killReason).toBe('protocol');
    expect(report.reply?.kind).not.toBe('result');
  });

  it('is broken by a second result right after the first, which is dropped', async () => {
    const twice =
      "onCall = (p, call) => raw(Buffer.concat([answer('mine', call), answer('for the next', call + 1)]));";
    const cell = start(place(`${twice} send({ t: 'ready' });`));
    expect(valueOf(await cell.call({}))).toBe('mine');
    expect(cell.isDead).toBe(true);
  });

  it('is broken by a frame between calls', async () => {
    const late =
      "onCall = (p, call) => { raw(answer(1, call)); setTimeout(() => send({ t: 'log' }, Buffer.from('x')), 20); };";
    const cell = start(place(`${late} send({ t: 'ready' });`));
    expect(valueOf(await cell.call({}))).toBe(1);
    while (!cell.isDead) await sleep(5);
  });

  it('allows a result to arrive in several chunks', async () => {
    const pieces = `
      onCall = async (params, call) => {
        const all = answer({ text: 'ä'.repeat(2000) }, call);
        for (let at = 0; at < all.length; at += 500) {
          raw(all.subarray(at, at + 500));
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      };
      send({ t: 'ready' });`;
    expect(valueOf(await start(place(pieces)).call({}))).toEqual({ text: 'ä'.repeat(2000) });
  });
});

describe('a request to the host', () => {
  it('is answered and counted, and ends with the call', async () => {
    const broker = new AnsweringBroker();
    const asking = `
      onCall = (params, call) => {
        let open = 3;
        onReply = (body) => { if (--open === 0) raw(answer(body.value, call)); };
        for (let id = 0; id < 3; id++) send({ t: 'ask', id, op: 'echo', args: { id } });
      };
      send({ t: 'ready' });`;
    const report = await start(place(asking, { broker })).call({});
    expect(valueOf(report)).toEqual({ id: 2 });
    expect(report.hostCalls).toBe(3);
    expect(broker.isClosed).toBe(true);
  });

  it('that was denied is reported if the skill fails after it', async () => {
    const denied = `
      onCall = (params, call) => {
        onReply = ({ code }) => send({ t: 'error', call, type: 'Oops', message: code });
        send({ t: 'ask', id: 1, op: 'deny', args: {} });
      };
      send({ t: 'ready' });`;
    const { reply, denied: events } = await start(place(denied)).call({});
    expect(reply).toMatchObject({
      kind: 'error',
      type: 'Oops',
      message: 'io',
      denied: { asked: 'connect x' },
    });
    expect(events).toHaveLength(1);
  });

  it('whose answer is not read does not fill the memory of the host', async () => {
    const broker = new AnsweringBroker();
    const deaf = `
      onCall = () => {
        socket.pause();
        const asks = Buffer.concat(Array.from({ length: 3000 }, (_, id) =>
          frame({ t: 'ask', id, op: 'bytes', args: { length: 1 << 20 } })));
        raw(asks);
      };
      send({ t: 'ready' });`;
    const cell = start(place(deaf, { broker, limits: { timeout: 1500 } }));
    await cell.ready;
    expect((await cell.call({})).killReason).toBe('timeout');
    // Each answer is 1 MiB, so all of them would be 3 GiB.
    expect(broker.requests).toBeLessThan(200);
  });

  it('kills the cell if it is repeated too often', async () => {
    const flood = `
      onCall = () => {
        const some = Buffer.concat(Array.from({ length: 5000 }, () => frame({ t: 'ask', id: 1, op: 'echo' })));
        const more = () => raw(some, more);
        more();
      };
      send({ t: 'ready' });`;
    const cell = start(place(flood, { limits: { timeout: 580_000, cpu: 580_000 } }));
    const { reply } = await cell.call({});
    expect(reply).toMatchObject({ kind: 'error', limit: 'host_calls' });
    expect(cell.isDead).toBe(true);
  });
});

describe('the output of a guest', () => {
  it.each([
    ['long lines', "Buffer.alloc(50000, 'x')"],
    ['endless empty output', 'Buffer.alloc(0)'],
  ])('is capped: %s', async (_, payload) => {
    const flood = `
      onCall = () => {
        const some = Buffer.concat(Array.from({ length: 200 }, () => frame({ t: 'log' }, ${payload})));
        const more = () => raw(some, more);
        more();
      };
      send({ t: 'ready' });`;
    const report = await start(place(flood, { limits: { output: 100_000 } })).call({});
    expect(report.killReason).toBe('output');
    expect(report.logs.length).toBeLessThan(70_000);
  });

  it('goes to the log of its own call', async () => {
    const talking =
      "onCall = (p, call) => { send({ t: 'log' }, Buffer.from(p.say)); raw(answer(1, call)); }; send({ t: 'ready' });";
    const cell = start(place(talking));
    expect([(await cell.call({ say: 'one' })).logs, (await cell.call({ say: 'two' })).logs]).toEqual([
      'one',
      'two',
    ]);
  });
});
