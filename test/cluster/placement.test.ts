/**
 * Where a call may go: only to a pool whose workers all have the same policy and enforce everything that its skill declares.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Announcement } from '../../src/cluster/messages.ts';
import { announceSubjects, Fleet } from '../../src/cluster/placement.ts';
import { createRuntime, type Runtime, type Skill } from '../../src/index.ts';
import { openFolder, writeSkill, type SkillText } from '../write-skill.ts';
import { openCluster, type ClusterStage } from './stage.ts';

let stage: ClusterStage;
let runtime: Runtime;

beforeAll(async () => {
  const folder = openFolder();
  writeSkill(folder, { id: 'test/echo', source: 'def execute(params):\n    return "ran"' });
  writeFileSync(join(folder, 'open.yaml'), 'ceilings: { timeout: 60s }');
  writeFileSync(join(folder, 'strict.yaml'), 'ceilings: { timeout: 10s }');
  stage = await openCluster({ folder, pools: ['default', 'strict', 'only'] });
  runtime = createRuntime({ home: join(folder, 'home-test'), cwd: folder });
});

afterAll(async () => {
  await runtime.close();
  await stage[Symbol.asyncDispose]();
});

type Pair = Announcement['pairs'][number];

const JAIL: Pair = { mode: 'subprocess', wall: 'jail', engine: 'python', unenforced: [] };
const WASM: Pair = { mode: 'wasm', wall: 'jail', engine: 'python-wasm', unenforced: [] };
const POLICY = 'a'.repeat(64);

/** What these workers announce decides; only the announcements are made up, not how they travel and are read. */
async function placeAmong(
  workers: readonly Partial<Announcement>[],
  {
    skill,
    pools = ['one', 'two'],
    tenant = 'acme',
  }: { skill: SkillText | Skill; pools?: string[]; tenant?: string },
): Promise<string> {
  const loaded = 'bundle' in skill ? skill : await runtime.load(writeSkill(stage.folder, skill));
  const fleet = new Fleet(stage.admin);
  await stage.admin.flush();
  for (const [at, worker] of workers.entries()) {
    const announcement: Announcement = {
      ...{ v: 1, name: `fake${at}`, boot: 'b', pool: 'one', version: '0', policy: POLICY },
      ...{ slots: 1, running: 0, isDraining: false, warm: [], pairs: [JAIL] },
      ...worker,
    };
    const { pool, name, tenants } = announcement;
    for (const subject of announceSubjects(pool, name, tenants))
      stage.admin.publish(subject, JSON.stringify(announcement));
  }
  await stage.admin.flush();
  try {
    await expect.poll(() => fleet.workers.length).toBe(workers.length);
    return await fleet.place(pools, { skill: loaded, tenant });
  } finally {
    fleet.close();
  }
}

const SOURCE = 'def execute(params):\n    return 1';
const PLAIN: SkillText = { source: SOURCE };
const ONLY_WASM: SkillText = { source: SOURCE, manifest: { execution: ['wasm'] } };
const LIMITED: SkillText = { source: SOURCE, manifest: { limits: { processes: 3 } } };
const NOBODY = ['processes'];

describe('a call goes', () => {
  test.each<{ what: string; workers: Partial<Announcement>[]; skill: SkillText; pool: string }>([
    { what: 'to the first pool that fits', workers: [{}, { pool: 'two' }], skill: PLAIN, pool: 'one' },
    {
      what: 'to the first pool although all its places are taken',
      workers: [{ running: 1 }, { pool: 'two', slots: 100 }],
      skill: PLAIN,
      pool: 'one',
    },
    {
      what: 'where the mode of its skill exists',
      workers: [{}, { pool: 'two', pairs: [WASM] }],
      skill: ONLY_WASM,
      pool: 'two',
    },
    {
      what: 'where a wall enforces what its skill declares',
      workers: [{ pairs: [{ ...JAIL, unenforced: NOBODY }] }, { pool: 'two' }],
      skill: LIMITED,
      pool: 'two',
    },
    {
      what: 'where nobody enforces what its skill does not declare',
      workers: [{ pairs: [{ ...JAIL, unenforced: NOBODY }] }],
      skill: PLAIN,
      pool: 'one',
    },
    {
      what: 'to a worker of its tenant',
      workers: [{ tenants: ['umbrella'] }, { pool: 'two', tenants: ['acme'] }],
      skill: PLAIN,
      pool: 'two',
    },
  ])('$what', async ({ workers, skill, pool }) => {
    expect(await placeAmong(workers, { skill })).toBe(pool);
  });

  test.each<{ why: string; workers: Partial<Announcement>[]; skill: SkillText; says: RegExp }>([
    {
      why: 'the workers of a pool have different policies',
      workers: [{}, { policy: 'b'.repeat(64) }],
      skill: PLAIN,
      says: /"one" have different policies/,
    },
    {
      why: 'one of them drains with another policy',
      workers: [{}, { policy: 'b'.repeat(64), isDraining: true }],
      skill: PLAIN,
      says: /"one" have different policies/,
    },
    {
      why: 'the workers of a pool enforce different things',
      workers: [{}, { pairs: [{ ...JAIL, unenforced: NOBODY }] }],
      skill: PLAIN,
      says: /"one" enforce different things/,
    },
    { why: 'no pool has its mode', workers: [{}], skill: ONLY_WASM, says: /no wall of the pool "one"/ },
    {
      why: 'nobody enforces what it declares',
      workers: [{ pairs: [{ ...JAIL, unenforced: NOBODY }] }],
      skill: LIMITED,
      says: /no wall of the pool "one"/,
    },
    { why: 'all workers drain', workers: [{ isDraining: true }], skill: PLAIN, says: /"one" is running/ },
    {
      why: 'no worker serves its tenant',
      workers: [{ tenants: ['x'] }],
      skill: PLAIN,
      says: /"one" is running/,
    },
  ])('nowhere if $why', async ({ workers, skill, says }) => {
    await expect(placeAmong(workers, { skill })).rejects.toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringMatching(says) as string,
    });
  });
});

describe('a front end ignores', () => {
  const one = {
    v: 1,
    name: 'liar',
    boot: 'b',
    pool: 'one',
    version: '0',
    policy: POLICY,
    slots: 1,
    running: 0,
  };
  test.each<{ what: string; subject: string; text: string }>([
    { what: 'text', subject: 'sc.worker.one._.liar', text: 'hello' },
    { what: 'unknown members', subject: 'sc.worker.one._.liar', text: JSON.stringify({ ...one, extra: 1 }) },
    {
      what: 'the announcement of another worker',
      subject: 'sc.worker.one._.mallory',
      text: JSON.stringify({ ...one, isDraining: false, pairs: [JAIL], warm: [] }),
    },
    {
      what: 'another pool than that of its subject',
      subject: 'sc.worker.two._.liar',
      text: JSON.stringify({ ...one, isDraining: false, pairs: [JAIL], warm: [] }),
    },
    {
      what: 'more than 512 KiB',
      subject: 'sc.worker.one._.liar',
      text: `{"v":1,"x":"${'x'.repeat(600_000)}"}`,
    },
  ])('$what as an announcement', async ({ subject, text }) => {
    const fleet = new Fleet(stage.admin);
    await stage.admin.flush();
    stage.admin.publish(subject, text);
    const honest = { ...one, name: 'honest', isDraining: false, pairs: [JAIL], warm: [] };
    stage.admin.publish('sc.worker.one._.honest', JSON.stringify(honest));
    await expect.poll(() => fleet.workers.map(({ name }) => name)).toEqual(['honest']);
    fleet.close();
  });
});

test('a pool of real workers with different policies is refused, and the next pool runs the call', async () => {
  await stage.startWorker('w1', ['--policy', 'open.yaml']);
  await stage.startWorker('w2', ['--policy', 'strict.yaml']);
  await stage.startWorker('w3', ['--policy', 'strict.yaml', '--pool', 'only']);
  const call = async (name: string, pools: string[]): Promise<unknown> => {
    const { client } = await stage.startFront(name, { pools });
    await expect.poll(() => client.workers.length).toBe(3);
    return client.execute('test/echo', {}, { tenantName: 'acme', reject: false });
  };
  expect(await call('one', ['default'])).toMatchObject({
    ok: false,
    error: {
      code: 'skill_unavailable',
      message: expect.stringContaining('the workers of the pool "default" have different policies') as string,
    },
  });
  expect(await call('two', ['default', 'only'])).toMatchObject({ ok: true, result: 'ran' });
});
