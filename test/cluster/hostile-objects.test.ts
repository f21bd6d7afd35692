/**
 * Objects of a cluster whose sender lies: bundles with other files, unsafe paths or too many bytes, and objects that are
 * links, larger than they say, or incomplete. All are refused, nothing is written, and the reader goes on.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { Objm, type ObjectStore } from '@nats-io/obj';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectCluster } from '../../src/api/cluster.ts';
import { packBundle } from '../../src/cluster/bundles.ts';
import { writeFrame } from '../../src/cluster/frame.ts';
import { bundleName, Stores } from '../../src/cluster/stores.ts';
import { WorkerSkills } from '../../src/cluster/worker-skills.ts';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { openCluster, type ClusterStage } from './stage.ts';

let stage: ClusterStage;
let connection: Awaited<ReturnType<typeof connectCluster>>;
let author: Runtime;
let runtime: Runtime;
let skills: WorkerSkills;
let store: ObjectStore;
let dir: string;
let elsewhere: string;
/** Of a skill that only its author has. */
let wanted: { name: string; digest: string; object: string; honest: Uint8Array };

beforeAll(async () => {
  stage = await openCluster();
  elsewhere = openFolder();
  dir = writeSkill(elsewhere, {
    id: 'test/travels',
    source: `def execute(params):
    return {"came": "far"}`,
  });
  author = createRuntime({ home: join(elsewhere, 'home'), cwd: elsewhere });
  const { bundle } = await author.load(dir);
  const { digest } = bundle;
  const object = bundleName(digest);
  wanted = { name: 'test/travels', digest, object, honest: packBundle(bundle) };
  runtime = createRuntime({ home: join(stage.folder, 'home-worker'), cwd: stage.folder });
  connection = await connectCluster({ url: stage.url, name: 'w9' });
  const stores = new Stores(connection);
  skills = new WorkerSkills({ runtime, stores, acceptsBundles: true });
  store = await new Objm(stage.admin).open('sc_large_acme');
});

afterAll(async () => {
  await runtime.close();
  await author.close();
  await connection.close();
  await stage[Symbol.asyncDispose]();
  removeFolder(elsewhere);
});

function packed(files: readonly (readonly [path: string, bytes: string | number])[]): Uint8Array {
  const bodies = files.map(([, bytes]) =>
    typeof bytes === 'number' ? Buffer.alloc(bytes) : Buffer.from(bytes),
  );
  return writeFrame({ files: files.map(([path], at) => [path, bodies[at]?.length]) }, Buffer.concat(bodies));
}

/** An object whose description is not that of its parts, as a hostile sender can write it. */
async function forge(parts: readonly Uint8Array[], description: Record<string, unknown>): Promise<void> {
  const nuid = randomBytes(11).toString('hex');
  const client = jetstream(stage.admin);
  for (const part of parts) await client.publish(`$O.sc_large_acme.C.${nuid}`, part);
  const meta = {
    ...{ name: wanted.object, bucket: 'sc_large_acme', nuid, size: 0, chunks: parts.length },
    digest: `SHA-256=${padded(hash('sha256', Buffer.concat(parts), 'base64url'))}`,
    ...description,
  };
  await store.delete(wanted.object).catch(() => undefined);
  await client.publish(
    `$O.sc_large_acme.M.${padded(Buffer.from(wanted.object).toString('base64url'))}`,
    JSON.stringify(meta),
  );
}

/** As the client of the store writes names and digests. */
const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');

const put = async (bytes: Uint8Array): Promise<void> => {
  await store.putBlob({ name: wanted.object }, bytes);
};

const UNSAFE = /unsafe path/;
const BUNDLES: { what: string; bytes: () => Uint8Array; reason: RegExp }[] = [
  {
    what: 'the files of another bundle',
    bytes: () =>
      packed([
        ['skill.py', 'import os'],
        ['manifest.yaml', 'name: test/travels'],
      ]),
    reason: /its files have the digest/,
  },
  {
    what: 'its files and more bytes',
    bytes: () => Buffer.concat([wanted.honest, Buffer.from('x')]),
    reason: /bytes of no file/,
  },
  { what: 'a path that climbs', bytes: () => packed([['../../climbed', 'x']]), reason: UNSAFE },
  { what: 'an absolute path', bytes: () => packed([['/var/tmp/skillcell-climbed', 'x']]), reason: UNSAFE },
  { what: 'a path with a NUL', bytes: () => packed([['a\0b', 'x']]), reason: UNSAFE },
  {
    what: 'a path that is a file and a folder',
    bytes: () =>
      packed([
        ['a', 'x'],
        ['a/b', 'x'],
      ]),
    reason: /a file and a folder/,
  },
  {
    what: 'the same path twice',
    bytes: () =>
      packed([
        ['a', 'x'],
        ['a', 'y'],
      ]),
    reason: /do not fit/,
  },
  {
    what: 'more files than a bundle may have',
    bytes: () => packed(Array.from({ length: 2003 }, (_, at) => [`f${at}`, ''] as const)),
    reason: /too many/,
  },
  {
    what: 'more bytes than a bundle may have',
    bytes: () => packed([['big', 65 * 1024 * 1024]]),
    reason: /too large/,
  },
  {
    what: 'a lock that is far too large',
    bytes: () => packed([['skill.lock', 65 * 1024 * 1024]]),
    reason: /too large/,
  },
  {
    what: 'sizes that do not fit',
    bytes: () => writeFrame({ files: [['a', 2 ** 40]] }),
    reason: /too large/,
  },
  { what: 'no frame', bytes: () => Buffer.from('not a bundle'), reason: /malformed/ },
  { what: 'nothing', bytes: () => Buffer.alloc(0), reason: /malformed/ },
];

async function expectRefused(reason: RegExp): Promise<void> {
  const error: unknown = await skills.load('acme', wanted).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'manifest_drift' });
  expect(String(error)).toMatch(reason);
  const folder = join(runtime.home, 'cluster');
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
}

describe('a bundle in the object store', () => {
  test.each(BUNDLES)('with $what is refused, and nothing is written', async ({ bytes, reason }) => {
    await put(bytes());
    await expectRefused(reason);
  });

  test('whose description says less than it has is refused before it fills the memory', async () => {
    const parts = Array.from({ length: 8 }, () => Buffer.alloc(512 * 1024, 1));
    await forge(parts, { size: 1000 });
    await expectRefused(/larger than its size/);
  });

  test('whose description says more than a bundle can have is refused unread', async () => {
    await forge([Buffer.from('x')], { size: 10 ** 12 });
    await expectRefused(/too large/);
  });

  test('whose digest is not that of its parts is refused', async () => {
    await forge([wanted.honest], { size: wanted.honest.length, digest: `SHA-256=${'A'.repeat(43)}=` });
    await expectRefused(/digests do not match/);
  });

  test('that is a link to the store of another tenant is refused', async () => {
    const other = await new Objm(stage.admin).open('sc_large_umbrella');
    await other.putBlob({ name: wanted.object }, wanted.honest);
    await forge([], { options: { link: { bucket: 'sc_large_umbrella', name: wanted.object } } });
    await expectRefused(/it is a link/);
  });

  test('with parts that never come is refused, and does not keep the worker', async () => {
    await forge([], { size: 1000 });
    await expectRefused(/parts of it are missing/);
  });

  test('is loaded once it is the right one', async () => {
    await store.delete(wanted.object);
    await put(wanted.honest);
    const skill = await skills.load('acme', wanted);
    expect(skill.bundle).toMatchObject({ digest: wanted.digest, origin: 'external' });
  });

  test('of an Agent Skills folder travels too', async () => {
    // A folder without a manifest is named after it.
    const agentDir = writeSkill(elsewhere, {
      files: {
        'SKILL.md': '---\nname: notes\ndescription: Notes.\n---\nRead `more.md`.',
        'more.md': 'More.',
        '.hidden': 'x',
      },
      id: 'agent/notes',
    });
    rmSync(join(agentDir, 'manifest.yaml'));
    const { bundle } = await author.load(agentDir);
    await store.putBlob({ name: bundleName(bundle.digest) }, packBundle(bundle));
    const skill = await skills.load('acme', { name: bundle.manifest.name, digest: bundle.digest });
    expect(skill.bundle.digest).toBe(bundle.digest);
  });
});

test('a front end replaces an object with other bytes, so that its call works', async () => {
  await store.delete(wanted.object).catch(() => undefined);
  await put(packed([['skill.py', 'import os']]));
  await stage.startWorker('w1', ['--slots', '1']);
  const front = await stage.startFront('front');
  const outcome = await front.client.execute(dir, {}, { tenantName: 'acme', reject: false });
  expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true, result: { came: 'far' } });
});
