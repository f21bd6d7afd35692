/**
 * Distribution as people use it, by the command line: one publishes a skill to two real registries, another adds it with a
 * home of their own and runs it. Then somebody changes what the registries have, and each change is refused.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goProgram } from '../../../scripts/go-programs.ts';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import {
  jsonBlob,
  makeBlob,
  parseManifest,
  type Descriptor,
  type Manifest,
} from '../../../src/distribution/oci/manifest.ts';
import { parseReference } from '../../../src/distribution/oci/reference.ts';
import { Repository } from '../../../src/distribution/oci/registry.ts';
import { readBundle } from '../../../src/load/read-bundle.ts';
import { removeTreeSync } from '../../../src/load/remove-tree.ts';
import { makeKeyPair } from '../../../src/trust/signature.ts';
import { OWN_ID, PersonLine, RUST_ID, RUST_SKILL } from '../person-line.ts';
import { startRegistry, type Registry } from '../registries.ts';

const PARAMS = ['--params', '{"text":"to be or not to be"}'];
const KEYS = { ours: makeKeyPair(), other: makeKeyPair() };
const HTTP = new HttpClient({ env: {} });
let room = '';
let first: Registry;
let second: Registry;
let people = 0;

beforeAll(async () => {
  // Cells of a root host are not root, and have to reach the homes.
  room = mkdtempSync(join(tmpdir(), 'skillcell-acceptance-'));
  chmodSync(room, 0o711);
  [first, second] = await Promise.all([
    startRegistry('distribution', join(room, 'first')),
    startRegistry('referrers', join(room, 'second')),
  ]);
}, 120_000);

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  HTTP.close();
  removeTreeSync(room);
});

function person(): PersonLine {
  const folder = join(room, `person-${++people}`);
  mkdirSync(folder, { mode: 0o711 });
  return new PersonLine(folder);
}

function publisher(): PersonLine & { key: string } {
  const one = person();
  return Object.assign(one, { key: one.write('key.pem', KEYS.ours.privateKey) });
}

/** A file with the rules of an operator who allows these registries. */
function policyOf(who: PersonLine, more: object = {}): string[] {
  const sources = [first, second].map(({ host }) => Object.assign({ match: `oci://${host}/*` }, more));
  const publishers = [{ name: 'us', key: KEYS.ours.publicKey }];
  return ['--policy', who.write('policy.yaml', JSON.stringify({ publishers, sources }))];
}

function judge(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  expect({ program, args, status, stderr }).toMatchObject({ status: 0 });
  return stdout.trim();
}

describe('a published Rust skill', () => {
  test('is added from two registries with the same digest, and runs with the same result', async () => {
    const author = publisher();
    await author.ok('study', RUST_SKILL, '--calls', '1', '--out', join(author.folder, 'study'));
    const study = ['--study', join(author.folder, 'study', 'study.json')];
    for (const { host } of [first, second])
      await author.ok(
        'publish',
        RUST_SKILL,
        `oci://${host}/skills/stats`,
        '--key',
        author.key,
        '--wasm',
        ...study,
      );
    // One confirms at a terminal. The policy of the other allows the source, if the skill is signed and was studied.
    const [one, other] = [person(), person()];
    const added = await one.atTerminal('y\n', 'add', `oci://${first.host}/skills/stats`);
    expect(added.code).toBe(0);
    expect(added.stdout).toContain('It cannot access your files, the network or your variables.');
    expect(added.stdout).toContain(`signed by ${KEYS.ours.publicKey}`);
    const strict = policyOf(other, { require_signature: true, require_attestation: ['sbom', 'study'] });
    await other.ok('add', `oci://${second.host}/skills/stats`, '--yes', ...strict);
    const [pin, otherPin] = [one.pin(RUST_ID), other.pin(RUST_ID)];
    expect(otherPin).toEqual({ ...pin, source: `oci://${second.host}/skills/stats` });
    expect(pin).toMatchObject({
      digest: readBundle(RUST_SKILL).digest,
      tag: '1.0.0',
      signer: { key: KEYS.ours.publicKey },
    });
    const bundled = await author.ok('run', RUST_ID, ...PARAMS);
    for (const who of [one, other]) {
      expect(await who.ok('inspect', RUST_ID)).toContain(`${who.home}/fetched/`);
      expect(await who.ok('run', RUST_ID, ...PARAMS)).toBe(bundled);
    }
    expect(await other.ok('verify', `oci://${second.host}/skills/stats`, ...strict)).toContain(
      'is signed by us.',
    );
  });

  test('is accepted by crane and skopeo, and stays the same skill on its way through them', async () => {
    const author = publisher();
    const { digest } = JSON.parse(
      await author.ok(
        'publish',
        RUST_SKILL,
        `oci://${first.host}/judged/stats`,
        '--key',
        author.key,
        '--json',
      ),
    ) as { digest: string };
    const crane = goProgram('crane');
    judge(crane, 'validate', '--insecure', '--remote', `${first.host}/judged/stats:1.0.0`);
    const plain = ['--insecure-policy', 'copy', '--src-tls-verify=false', '--dest-tls-verify=false'];
    const [from, to] = [first, second].map(({ host }) => `docker://${host}/judged/stats:1.0.0`);
    judge('skopeo', ...plain, from ?? '', to ?? '');
    expect(judge(crane, 'digest', '--insecure', `${second.host}/judged/stats:1.0.0`)).toBe(digest);
    const who = person();
    await who.ok(
      'add',
      `oci://${second.host}/judged/stats`,
      '--yes',
      ...policyOf(who, { require_signature: true }),
    );
    expect(who.pin(RUST_ID)).toMatchObject({ revision: digest, digest: readBundle(RUST_SKILL).digest });
  });

  test('is mirrored with its documents, installed from a clone, and used without the registry', async () => {
    const author = publisher();
    const to = `oci://${first.host}/upstream/stats`;
    await author.ok('publish', RUST_SKILL, to, '--key', author.key);
    const registry = await startRegistry('docker-registry', join(room, 'air-gapped'));
    const clone = person();
    try {
      const mirror = `oci://${registry.host}/mirror/stats`;
      expect(await author.ok('mirror', `${to}:1.0.0`, mirror)).toContain('(2 new documents)');
      const who = person();
      const typed = await who.atTerminal('y\n', 'add', mirror);
      expect(typed.code).toBe(0);
      writeFileSync(join(clone.project, 'skills.lock.json'), who.lockText());
      expect(await clone.ok('install', '--frozen')).toContain('1 skills are as pinned, 0 of them were here');
    } finally {
      await registry.stop();
    }
    expect(await clone.ok('install', '--frozen')).toContain('1 of them were here already');
    expect(JSON.parse(await clone.ok('run', RUST_ID, ...PARAMS))).toMatchObject({ words: 6 });
  });
});

describe('an Agent Skills folder', () => {
  test('is published, added and executed the same way', async () => {
    const [author, who] = [publisher(), person()];
    const folder = join(author.folder, 'greeter');
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    const head = 'name: greeter\ndescription: Greets people.\nmetadata:\n  version: "1.2.0"';
    writeFileSync(join(folder, 'SKILL.md'), `---\n${head}\n---\nRun \`scripts/greet.sh NAME\`.\n`);
    writeFileSync(join(folder, 'scripts/greet.sh'), '#!/bin/sh\necho "Hello, $1"\n', { mode: 0o755 });
    for (const { host } of [first, second])
      await author.ok('publish', folder, `oci://${host}/skills/greeter`, '--key', author.key);
    const added = await who.atTerminal('y\n', 'add', `oci://${first.host}/skills/greeter`);
    expect(added.stdout).toContain('an Agent Skills folder with scripts');
    expect(who.pin('skills/greeter')).toMatchObject({ version: '1.2.0', tag: '1.2.0' });
    expect(await who.ok('exec', 'skills/greeter', '--', 'scripts/greet.sh', 'Ada')).toBe('Hello, Ada\n');
    const pinned = who.pin('skills/greeter');
    await who.ok('remove', 'skills/greeter');
    await who.ok('add', `oci://${second.host}/skills/greeter`, '--yes', ...policyOf(who));
    expect(who.pin('skills/greeter')).toEqual({ ...pinned, source: `oci://${second.host}/skills/greeter` });
  });
});

describe('what somebody changed is refused', () => {
  /** A person who added version 1.0.0, or the tag, of a signed skill in a repository of their own, with blobs of its own. */
  async function withSkill(
    name: string,
    tag = '1.0.0',
  ): Promise<{ author: ReturnType<typeof publisher>; who: PersonLine; source: string }> {
    const [author, who] = [publisher(), person()];
    const source = `oci://${first.host}/attacked/${name}`;
    await author.ok('publish', author.writeSkill('1.0.0', `Of ${name}.\n`), source, '--key', author.key);
    if (tag !== '1.0.0')
      await author.ok('publish', author.writeSkill('2.0.0'), `${source}:${tag}`, '--key', author.key);
    await who.ok('add', `${source}:${tag}`, '--yes', ...policyOf(who));
    return { author, who, source };
  }

  test('one byte in the registry', async () => {
    const { author, source } = await withSkill('byte');
    const { layer } = await describeArtifact(`${source}:1.0.0`);
    const hex = layer.digest.slice('sha256:'.length);
    const blob = join(room, 'first/store/docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data');
    const bytes = readFileSync(blob);
    bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000);
    writeFileSync(blob, bytes);
    const who = person();
    const message = await who.refused('manifest_drift', 'add', source, '--yes', ...policyOf(who));
    expect(message).toContain('are not the expected ones: their digest is sha256:');
    expect(
      await author.refused('manifest_drift', 'mirror', `${source}:1.0.0`, `oci://${second.host}/spread/byte`),
    ).toContain(layer.digest);
  });

  test('a version that was moved to other files', async () => {
    const { author, who, source } = await withSkill('moved');
    const other = author.writeSkill('1.0.0', 'Other files.\n');
    await author.refused('usage', 'publish', other, source, '--key', author.key);
    await author.ok('publish', other, source, '--key', author.key, '--force');
    expect(await who.ok('outdated')).toContain('SOMEBODY MOVED THIS VERSION');
    for (const command of [['update'], ['add', `${source}:1.0.0`]])
      expect(await who.refused('manifest_drift', ...command, '--yes', ...policyOf(who))).toContain(
        `Somebody moved version "1.0.0" of "${OWN_ID}"`,
      );
    // Whoever has the pin still gets the bytes that it names.
    const clone = person();
    writeFileSync(join(clone.project, 'skills.lock.json'), who.lockText());
    await clone.ok('install', '--frozen');
    expect(JSON.parse(await clone.ok('run', OWN_ID, ...PARAMS))).toMatchObject({ words: 6 });
  });

  test('a signature of other files', async () => {
    const { author, source } = await withSkill('swapped');
    await author.ok('publish', author.writeSkill('1.1.0'), source, '--key', author.key);
    await swapSignature(`${source}:1.0.0`, `${source}:1.1.0`);
    const who = person();
    expect(
      await who.refused('signature_invalid', 'add', `${source}:1.1.0`, '--yes', ...policyOf(who)),
    ).toContain(`carries a signature by ${KEYS.ours.publicKey} that is not valid for its files`);
  });

  test('another signer, and no signer', async () => {
    const { author, who, source } = await withSkill('signer');
    const key = author.write('other.pem', KEYS.other.privateKey);
    await author.ok('publish', author.writeSkill('1.1.0'), source, '--key', key);
    const message = await who.refused('signature_invalid', 'update', '--yes', ...policyOf(who));
    expect(message).toContain(`Another signer signs "${OWN_ID}" now: it was ${KEYS.ours.publicKey}`);
    expect(message).toContain(KEYS.other.publicKey);
    await author.ok('publish', author.writeSkill('1.2.0'), source);
    expect(await who.refused('signature_invalid', 'update', '--yes', ...policyOf(who))).toContain(
      'now nobody signs it',
    );
    // Another project of the same machine knows the signer too, and a policy can insist on a publisher.
    rmSync(join(who.project, 'skills.lock.json'));
    expect(await who.refused('signature_invalid', 'add', source, '--yes', ...policyOf(who))).toContain(
      'when it was first used here',
    );
    const stranger = person();
    expect(
      await stranger.refused(
        'signature_invalid',
        ...['add', source, '--yes', ...policyOf(stranger, { require_signature: true })],
      ),
    ).toContain(`The signature of "${OWN_ID}" is required`);
  });

  test('an older version, also behind a tag that moves', async () => {
    const { who, source } = await withSkill('rollback', 'stable');
    expect(who.pin()).toMatchObject({ version: '2.0.0', tag: 'stable' });
    judge(goProgram('crane'), 'tag', '--insecure', `${source.slice('oci://'.length)}:1.0.0`, 'stable');
    const older = `"1.0.0" of "${OWN_ID}" is older than "2.0.0", which is pinned`;
    expect(await who.refused('untrusted', 'update', '--yes', ...policyOf(who))).toContain(older);
    expect(await who.refused('untrusted', 'add', `${source}:1.0.0`, '--yes', ...policyOf(who))).toContain(
      older,
    );
    await who.ok('add', `${source}:1.0.0`, '--yes', '--allow-downgrade', OWN_ID, ...policyOf(who));
    expect(who.pin()).toMatchObject({ version: '1.0.0' });
  });
});

interface Described {
  repository: Repository;
  manifest: Manifest;
  layer: Descriptor;
  lock: Descriptor;
}

async function describeArtifact(reference: string): Promise<Described> {
  const name = parseReference(reference);
  const repository = new Repository(name, { http: HTTP, credentials: () => Promise.resolve(undefined) });
  const { bytes } = await repository.pullManifest(name.tag ?? '');
  const manifest = parseManifest(bytes, reference);
  const [layer, lock] = manifest.layers;
  if (!layer || !lock) throw new Error('The artifact has no layers');
  return { repository, manifest, layer, lock };
}

async function locksOf({ repository, lock }: Described): Promise<{ lock: string; signature: string }> {
  const bytes = await repository.pullBlob(lock, 'a lock', 2 ** 22);
  return JSON.parse(bytes.toString('utf8')) as { lock: string; signature: string };
}

/** What somebody with write access to the registry can do: the version `to` gets the signature of `from`. */
async function swapSignature(from: string, to: string): Promise<void> {
  const target = await describeArtifact(to);
  const { signature } = await locksOf(await describeArtifact(from));
  const { lock } = await locksOf(target);
  const swapped = makeBlob(target.lock.mediaType, Buffer.from(JSON.stringify({ lock, signature })));
  const manifest = { ...target.manifest, layers: [target.layer, swapped.descriptor] };
  await target.repository.pushBlob(swapped);
  await target.repository.pushManifest(jsonBlob(manifest.mediaType, manifest), parseReference(to).tag);
}
