import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { CellReport, GuestReply, LaunchSpec } from '../../src/cell/contract.ts';
import { heapLimitBehind } from '../../src/cell/node/heap-limit.ts';
import { ProcessWall } from '../../src/cell/process/wall.ts';
import { WarmCell } from '../../src/cell/warm-cell.ts';
import type { WarmPlace } from '../../src/cell/warm-set.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { AnsweringBroker, POLITE, scriptedPlace } from './scripted-cell.ts';

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
  it('serves one call after the other, and says how each began', async () => {
    const cell = start(place(POLITE));
    const first = await cell.call({ n: 1 });
    const second = await cell.call({ n: 2 });
    expect([valueOf(first), valueOf(second)]).toMatchObject([{ n: 1 }, { n: 2 }]);
    expect([first.start, second.start]).toEqual(['cold', 'warm']);
    const ahead = start(place(POLITE));
    expect(await ahead.ready).toBe(true);
    expect((await ahead.call({})).start).toBe('pool');
  });

  it('reports the death of its process in the middle of a call', async () => {
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

  it('tells a full heap of its process as the limit "memory", and not as a crash of the skill', async () => {
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

  it('tells a process that never came up from a skill that failed', async () => {
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
  ])('ends at the deadline, %s', async (_, behaviour, timeout) => {
    const cell = start(place(`${behaviour} send({ t: 'ready' });`, { limits: { timeout } }));
    await cell.ready;
    const report = await cell.call({});
    expect(report).toMatchObject({ killReason: 'timeout', reply: undefined });
    expect(cell.isDead).toBe(true);
  });

  it('does not wait longer than the deadline for a process that never becomes ready', async () => {
    const report = await start(
      place('setInterval(() => undefined, 1000);', { limits: { timeout: 300 } }),
    ).call({});
    expect(report).toMatchObject({ killReason: 'timeout', started: false });
  });

  it('ends a call that uses up its CPU time', async () => {
    const cell = start(
      place("onCall = () => { for (;;); }; send({ t: 'ready' });", { limits: { cpu: 200 } }),
    );
    expect((await cell.call({})).killReason).toBe('cpu');
  });

  it('ends when the caller gives up, before or during the call', async () => {
    const busy = start(place(POLITE));
    expect((await busy.call({ sleep: 5000 }, AbortSignal.timeout(200))).killReason).toBe('aborted');
    expect((await start(place(POLITE)).call({}, AbortSignal.abort())).killReason).toBe('aborted');
  });
});

describe('a cell that breaks the protocol', () => {
  it.each([
    ['a result for another call', "raw(answer('forged', call + 1))", 'out of order'],
    ['a result without a call', "send({ t: 'result' }, Buffer.from('1'))", 'out of order'],
    ['ready again', "send({ t: 'ready' })", 'out of order'],
    ['loaded again', "send({ t: 'loaded' })", 'out of order'],
    ['failed when it is too late', "send({ t: 'failed' })", 'out of order'],
    ['a frame of no kind', "send({ t: 'toString' })", 'out of order'],
    ['no object', 'raw(Buffer.from([2, 0, 0, 0, 91, 93]))', 'no object'],
    ['no JSON', 'raw(Buffer.from([2, 0, 0, 0, 91, 91]))', ''],
    [
      'a log with more than a log',
      "send({ t: 'log', more: 'x'.repeat(1000) }, Buffer.from('x'))",
      'out of order',
    ],
    ['a byte count that is none', "send({ t: 'log', payload_bytes: -1 })", 'byte count'],
  ])('%s', async (_, act, words) => {
    const cell = start(place(`onCall = (params, call) => { ${act}; }; send({ t: 'ready' });`));
    expect(await cell.call({})).toMatchObject({ killReason: 'protocol', reply: broken(words) });
    expect(cell.isDead).toBe(true);
  });

  it('a frame larger than any', async () => {
    const huge = place("onCall = () => raw(Buffer.from([255, 255, 255, 127])); send({ t: 'ready' });");
    expect((await start(huge).call({})).killReason).toBe('output');
  });

  it.each([
    ['a result before it was asked', "send({ t: 'ready' }); raw(answer('early', 1));"],
    ['loaded before it was told what', "send({ t: 'ready' }); send({ t: 'loaded' });"],
    ['a log before anything', "send({ t: 'log' }, Buffer.from('x')); send({ t: 'ready' });"],
  ])('%s', async (_, body) => {
    const report = await start(place(body)).call({});
    expect(report.killReason).toBe('protocol');
    expect(report.reply?.kind).not.toBe('result');
  });

  it("a second answer with the first is nobody's, and the process is not used again", async () => {
    const twice =
      "onCall = (p, call) => raw(Buffer.concat([answer('mine', call), answer('for the next', call + 1)]));";
    const cell = start(place(`${twice} send({ t: 'ready' });`));
    expect(valueOf(await cell.call({}))).toBe('mine');
    expect(cell.isDead).toBe(true);
  });

  it('what it says between calls ends it', async () => {
    const late =
      "onCall = (p, call) => { raw(answer(1, call)); setTimeout(() => send({ t: 'log' }, Buffer.from('x')), 20); };";
    const cell = start(place(`${late} send({ t: 'ready' });`));
    expect(valueOf(await cell.call({}))).toBe(1);
    while (!cell.isDead) await sleep(5);
  });

  it('a result that arrives in pieces is whole in the end', async () => {
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

describe('what a guest asks the host for', () => {
  it('is answered, counted, and ends with the call', async () => {
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

  it('that was denied is the reason if the skill fails after it', async () => {
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

  it('and does not listen to is not kept in the memory of the host', async () => {
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
    // Each answer is a MiB: all of them would be three GiB.
    expect(broker.requests).toBeLessThan(200);
  });

  it('too often ends it', async () => {
    const flood = `
      onCall = () => {
        const some = Buffer.concat(Array.from({ length: 5000 }, () => frame({ t: 'ask', id: 1, op: 'echo' })));
        const more = () => raw(some, more);
        more();
      };
      send({ t: 'ready' });`;
    const cell = start(place(flood, { limits: { timeout: 28_000, cpu: 28_000 } }));
    const { reply } = await cell.call({});
    expect(reply).toMatchObject({ kind: 'error', limit: 'host_calls' });
    expect(cell.isDead).toBe(true);
  });
});

describe('what a guest prints', () => {
  it.each([
    ['long lines', "Buffer.alloc(50000, 'x')"],
    ['nothing at all, for ever', 'Buffer.alloc(0)'],
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

  it('is the log of its own call', async () => {
    const talking =
      "onCall = (p, call) => { send({ t: 'log' }, Buffer.from(p.say)); raw(answer(1, call)); }; send({ t: 'ready' });";
    const cell = start(place(talking));
    expect([(await cell.call({ say: 'one' })).logs, (await cell.call({ say: 'two' })).logs]).toEqual([
      'one',
      'two',
    ]);
  });
});
