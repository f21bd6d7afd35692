import { setTimeout as sleep } from 'node:timers/promises';
import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import type { CellReport, Engine } from '../../../src/cell/contract.ts';
import { Pool } from '../../../src/cell/pool/pool.ts';
import { ProcessWall } from '../../../src/cell/walls/process/wall.ts';
import { callWarmOnce } from '../../../src/cell/protocol/start-warm.ts';
import { ReusablePool } from '../../../src/cell/pool/reusable.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';
import { POLITE, scriptedPlace } from '../scripted-cell.ts';

const MOST = Math.max(2, availableParallelism());
const folder = openFolder();
const wall = new ProcessWall();
const place = scriptedPlace(folder, wall, { name: 'polite', body: POLITE });

afterAll(async () => {
  await wall.close();
  removeFolder(folder);
});

interface OpenOptions {
  idleMs?: number;
  isClosed?: () => boolean;
  timeout?: number;
  engine?: Engine;
}

interface Set extends Disposable {
  set: ReusablePool;
  idle: () => number;
}

function open(options: OpenOptions = {}): Set {
  let idle = 0;
  const { timeout = 10_000, isClosed = () => false, engine = place.engine } = options;
  const limits = { ...place.grant.limits, timeout };
  const set = new ReusablePool(
    { ...place, engine, grant: { ...place.grant, limits } },
    {
      idleMs: options.idleMs ?? 60_000,
      onIdle: () => idle++,
      assertOpen: () => {
        if (isClosed()) throw new Error('closed');
      },
    },
  );
  return { set, idle: () => idle, [Symbol.dispose]: () => set.close() };
}

const pidOf = (report: CellReport): unknown =>
  report.reply?.kind === 'result' ? (report.reply.value as { pid: number }).pid : report;

const isAlive = (pid: unknown): boolean => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

async function untilDead(pid: unknown): Promise<void> {
  while (isAlive(pid)) await sleep(5);
}

describe('the warm processes of a skill', () => {
  it('serve sequential calls with one process and concurrent calls with several, up to the limit', async () => {
    using opened = open();
    const pids = new Set<unknown>();
    for (let call = 0; call < 5; call++) pids.add(pidOf(await opened.set.call({ params: {} })));
    expect(pids.size).toBe(1);
    const many = await Promise.all(
      Array.from({ length: 4 * MOST }, (_, n) => opened.set.call({ params: { n } })),
    );
    for (const report of many) pids.add(pidOf(report));
    expect(pids.size).toBe(MOST);
    expect(many.map((report) => report.reply)).toMatchObject(
      many.map((_, n) => ({ kind: 'result', value: { n } })),
    );
  });

  it('take turns after many back-to-back calls if a process is busy after its reply', async () => {
    using opened = open({ engine: { ...place.engine, takesTurns: true } });
    const next = async (): Promise<unknown> => pidOf(await opened.set.call({ params: {} }));
    const first = await next();
    for (let call = 0; call < 20; call++) expect(await next()).toBe(first);
    const pids: unknown[] = [];
    // The second process has to start first.
    for (let call = 0; call < 5000 && new Set(pids.slice(-2)).size < 2; call++) pids.push(await next());
    expect(pids.length).toBeGreaterThan(25);
    expect(new Set(pids).size).toBe(2);
    expect([await next(), await next()]).toEqual(pids.slice(-2));
  });

  it('are started only once by warm()', async () => {
    using opened = open();
    await opened.set.warm();
    await opened.set.warm();
    const report = await opened.set.call({ params: {} });
    expect(report.start).toBe('pool');
  });

  it('are replaced when they die, even for waiting calls', async () => {
    using opened = open();
    const crashing = Array.from({ length: MOST }, () => opened.set.call({ params: { crash: true } }));
    const waiting = Array.from({ length: MOST + 1 }, (_, n) => opened.set.call({ params: { n } }));
    for (const report of await Promise.all(crashing)) expect(report.exit).toEqual({ code: 7, signal: null });
    expect((await Promise.all(waiting)).map(({ reply }) => reply?.kind)).toEqual(waiting.map(() => 'result'));
  });

  it('are replaced after a timeout, and the next call succeeds', async () => {
    using opened = open({ timeout: 400 });
    const first = pidOf(await opened.set.call({ params: {} }));
    expect((await opened.set.call({ params: { sleep: 5000 } })).killReason).toBe('timeout');
    await untilDead(first);
    expect(pidOf(await opened.set.call({ params: {} }))).not.toBe(first);
  });

  it('are not reused after they died', async () => {
    using opened = open();
    const first = pidOf(await opened.set.call({ params: {} }));
    process.kill(Number(first), 'SIGKILL');
    await untilDead(first);
    await sleep(50);
    expect(pidOf(await opened.set.call({ params: {} }))).not.toBe(first);
  });

  it('are not killed when a waiting call is cancelled', async () => {
    using opened = open();
    const running = Array.from({ length: MOST }, () => opened.set.call({ params: { sleep: 400 } }));
    const given = new AbortController();
    const waiting = opened.set.call({ params: {}, signal: given.signal });
    const behind = opened.set.call({ params: { n: 1 } });
    given.abort();
    expect(await waiting).toMatchObject({ killReason: 'aborted', started: false });
    expect((await Promise.all(running)).every(({ reply }) => reply?.kind === 'result')).toBe(true);
    expect(await behind).toMatchObject({ start: 'warm', reply: { kind: 'result' } });
    expect(await opened.set.call({ params: {}, signal: AbortSignal.abort() })).toMatchObject({
      killReason: 'aborted',
    });
  });

  it('finish running and waiting calls when the pool is closed, and then end', async () => {
    const opened = open();
    const idle = pidOf(await opened.set.call({ params: {} }));
    const running = Array.from({ length: MOST }, () => opened.set.call({ params: { sleep: 300 } }));
    const waiting = opened.set.call({ params: {} });
    await sleep(50);
    opened.set.close();
    expect((await Promise.all(running)).map(({ reply }) => reply?.kind)).toEqual(running.map(() => 'result'));
    const last = await waiting;
    expect(last.reply?.kind).toBe('result');
    await untilDead(idle);
    await untilDead(pidOf(last));
  });

  it('are not started after the runtime was closed, and no call waits forever', async () => {
    let isClosed = false;
    using opened = open({ isClosed: () => isClosed });
    const crashing = Array.from({ length: MOST }, () => opened.set.call({ params: { crash: true } }));
    const waiting = Array.from({ length: 3 * MOST }, () => opened.set.call({ params: {} }));
    isClosed = true;
    const ends = await Promise.allSettled([...crashing, ...waiting]);
    expect(ends.map(({ status }) => status)).toEqual([
      ...crashing.map(() => 'fulfilled'),
      ...waiting.map(() => 'rejected'),
    ]);
  });

  it('are stopped when they are idle for a while', async () => {
    using opened = open({ idleMs: 60 });
    await opened.set.call({ params: {} });
    while (opened.idle() === 0) await sleep(5);
    expect(opened.idle()).toBe(1);
  });
});

const noGateway = (): never => {
  throw new Error('no cell of this test is native');
};

describe('a pool', () => {
  it('lets the running call of an evicted skill finish', async () => {
    const pool = new Pool(
      folder,
      { ...place, openGateway: noGateway, openSkills: noGateway },
      { size: 1, maxStandby: 1 },
    );
    const named = (digest: string): typeof place => ({
      ...place,
      artifact: { ...place.artifact, bundle: { ...place.artifact.bundle, digest } },
    });
    const first = pool.run(named('a'), { params: { sleep: 300 } });
    await sleep(100);
    expect((await pool.run(named('b'), { params: {} })).reply?.kind).toBe('result');
    expect((await first).reply?.kind).toBe('result');
    pool.close();
    await expect(pool.run(named('a'), { params: {} })).rejects.toMatchObject({ code: 'usage' });
  });

  it('keeps no processes if its size is 0', async () => {
    const pids = [await callWarmOnce(place, { params: {} }), await callWarmOnce(place, { params: {} })].map(
      pidOf,
    );
    expect(new Set(pids).size).toBe(2);
    for (const pid of pids) await untilDead(pid);
  });
});
