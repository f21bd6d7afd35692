import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { goProgram } from '../../../scripts/go-programs.ts';
import { readAttestations } from '../../../src/distribution/attestations.ts';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { mirrorSkill } from '../../../src/distribution/mirror.ts';
import { parseReference } from '../../../src/distribution/oci/reference.ts';
import { fetchReferrers, packDocument, pushReferrers } from '../../../src/distribution/oci/referrers.ts';
import { Repository } from '../../../src/distribution/oci/registry.ts';
import { OciSource } from '../../../src/distribution/oci/source.ts';
import { publishSkill, type PublishInput, type Published } from '../../../src/distribution/publish.ts';
import { readBundle } from '../../../src/load/read-bundle.ts';
import { isGoodEd25519, makeKeyPair, parseSignatures } from '../../../src/trust/signature.ts';
import { ATTACHMENT_TYPES } from '../../../src/vocabulary/oci-types.ts';
import { registriesForFile } from '../registries-for-file.ts';
import type { RegistryName } from '../registries.ts';

const SKILL = fileURLToPath(new URL('../../../skills/text/word_stats_rust', import.meta.url));
const NAMES: readonly RegistryName[] = ['docker-registry', 'distribution', 'referrers'];
const { privateKey, publicKey } = makeKeyPair();
const OPTIONS = { http: new HttpClient({ env: {} }), credentials: () => Promise.resolve(undefined) };
const SOURCE = new OciSource(OPTIONS);
const { hostOf } = registriesForFile(NAMES, 'skillcell-registries-');
afterAll(() => OPTIONS.http.close());

function publish(to: string, changes: Partial<PublishInput> & { version?: string } = {}): Promise<Published> {
  const bundle = readBundle(SKILL);
  const skill = {
    name: 'text/word_stats_rust',
    version: changes.version ?? '1.0.0',
    description: 'Counts words',
    contents: bundle.contents,
    digest: bundle.digest,
    lock: bundle.lock ?? Buffer.alloc(0),
  };
  return publishSkill({ skill, requirements: [], reference: parseReference(to), ...changes }, OPTIONS);
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  expect({ program, args, status, stderr }).toMatchObject({ status: 0 });
  return stdout.trim();
}

describe.each(NAMES)('the registry %s', (name) => {
  test('keeps a signed skill with its documents, and publishing it again pushes nothing', async () => {
    const to = `oci://${hostOf(name)}/skills/signed`;
    const first = await publish(to, { key: privateKey });
    const again = await publish(to, { key: privateKey });
    expect(first).toMatchObject({ isNew: true, documents: 2, signers: [publicKey] });
    expect(again).toEqual({ ...first, isNew: false, documents: 0 });
    const { pinned, files, claimedDigest, attachments } = await SOURCE.fetch(to);
    const bundle = readBundle(SKILL);
    expect(pinned).toEqual({ kind: 'oci', source: to, version: '1.0.0', revision: first.digest });
    expect(claimedDigest).toBe(bundle.digest);
    for (const [path, bytes] of bundle.contents) expect(files.get(path)?.equals(bytes)).toBe(true);
    const [signature] = parseSignatures(files.get('skill.sig') ?? Buffer.alloc(0)).signatures;
    const lock = files.get('skill.lock') ?? Buffer.alloc(0);
    expect(signature?.type === 'ed25519' && isGoodEd25519(signature, lock)).toBe(true);
    const publishers = [{ name: 'us', key: publicKey }];
    const attested = await readAttestations(attachments, { lock, revision: first.digest, publishers });
    expect(attested.map(({ kind, publisher }) => ({ kind, publisher }))).toEqual(
      expect.arrayContaining([
        { kind: 'sbom', publisher: undefined },
        { kind: 'sbom', publisher: 'us' },
      ]),
    );
  });

  test('does not move a version unless it is forced', async () => {
    const to = `oci://${hostOf(name)}/skills/moved:1.0.0`;
    const { digest } = await publish(to);
    await expect(publish(to, { key: privateKey })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(digest) as string,
    });
    const pinned = (await SOURCE.fetch(to)).pinned;
    const forced = await publish(to, { key: privateKey, force: true });
    expect(await SOURCE.currentRevision(pinned)).toBe(forced.digest);
    expect((await SOURCE.fetchPinned(pinned)).pinned.revision).toBe(digest);
  });

  test('lists versions, of which the newest is fetched', async () => {
    const to = `oci://${hostOf(name)}/skills/versions`;
    for (const version of ['1.0.0', '1.10.0', '1.9.0']) await publish(to, { version, wasm: true });
    const { pinned } = await SOURCE.fetch(to);
    expect(pinned.version).toBe('1.10.0');
    const versions = (await SOURCE.versions(pinned)).map(({ version }) => version);
    expect(versions.toSorted()).toEqual(['1.0.0', '1.10.0', '1.9.0']);
  });

  test('is copied with all documents, and the copy has the same digest', async () => {
    const to = `oci://${hostOf(name)}/skills/original:1.0.0`;
    const { digest } = await publish(to, { key: privateKey });
    const other = NAMES[(NAMES.indexOf(name) + 1) % NAMES.length] ?? name;
    const target = `oci://${hostOf(other)}/mirror/from-${name}`;
    const copy = (): ReturnType<typeof mirrorSkill> =>
      mirrorSkill(parseReference(to), parseReference(target), OPTIONS);
    expect(await copy()).toMatchObject({ digest, isNew: true, documents: 2 });
    expect(await copy()).toMatchObject({ digest, isNew: false, documents: 0 });
    const [one, copied] = [await SOURCE.fetch(to), await SOURCE.fetch(`${target}:1.0.0`)];
    expect(copied.pinned.revision).toBe(digest);
    expect(copied.attachments).toHaveLength(one.attachments.length);
  });

  test('is copied with documents about its documents', async () => {
    const to = `oci://${hostOf(name)}/skills/countersigned:1.0.0`;
    const { digest } = await publish(to, { key: privateKey });
    const repository = new Repository(parseReference(to), OPTIONS);
    const [sbom] = await fetchReferrers(repository, digest);
    if (!sbom) throw new Error('There is no SBOM');
    const { digest: subject, mediaType, bytes } = sbom.fetched;
    const document = {
      artifactType: ATTACHMENT_TYPES.dsse,
      bytes: Buffer.from('{}'),
      title: 'countersigned',
    };
    const packed = packDocument(document, { digest: subject, mediaType, size: bytes.length });
    await pushReferrers(repository, subject, [packed]);
    const target = `oci://${hostOf(name)}/mirror/countersigned`;
    const copied = await mirrorSkill(parseReference(to), parseReference(target), OPTIONS);
    expect(copied.documents).toBe(3);
    const there = await fetchReferrers(new Repository(parseReference(target), OPTIONS), subject);
    expect(there.map(({ descriptor }) => descriptor.digest)).toEqual([packed.manifest.descriptor.digest]);
  });

  test('has an artifact that crane validates and copies, and that skopeo copies', async () => {
    const host = hostOf(name);
    const { digest } = await publish(`oci://${host}/skills/judged`, { wasm: true });
    const crane = goProgram('crane');
    run(crane, 'validate', '--insecure', '--remote', `${host}/skills/judged:1.0.0`);
    run(crane, 'copy', '--insecure', `${host}/skills/judged:1.0.0`, `${host}/skills/craned:1.0.0`);
    expect(run(crane, 'digest', '--insecure', `${host}/skills/craned:1.0.0`)).toBe(digest);
    run(crane, 'validate', '--insecure', '--remote', `${host}/skills/judged:1.0.0-wasm`);
    const plain = ['--insecure-policy', 'copy', '--src-tls-verify=false', '--dest-tls-verify=false'];
    run('skopeo', ...plain, `docker://${host}/skills/judged:1.0.0`, `docker://${host}/skills/skopeod:1.0.0`);
    expect((await SOURCE.fetch(`oci://${host}/skills/skopeod:1.0.0`)).pinned.revision).toBe(digest);
  });

  test('has a skill that another program published in the same layout', async () => {
    const host = hostOf(name);
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-oras-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'word_stats_rust'));
    const bundle = readBundle(SKILL);
    for (const path of bundle.contents.keys())
      cpSync(join(SKILL, path), join(folder, 'word_stats_rust', path), { recursive: true });
    const digest = run(
      goProgram('oras-push'),
      join(folder, 'word_stats_rust'),
      `${host}/others/stats`,
      '1.0.0',
    );
    const { files, pinned, claimedDigest } = await SOURCE.fetch(`oci://${host}/others/stats:1.0.0`);
    expect(pinned.revision).toBe(digest);
    expect(claimedDigest).toBeUndefined();
    expect([...files.keys()].sort()).toEqual([...bundle.contents.keys()].sort());
    for (const [path, bytes] of bundle.contents) expect(files.get(path)?.equals(bytes)).toBe(true);
  });
});

test('the same files give the same artifact in every registry', async () => {
  const digests = await Promise.all(
    NAMES.map(async (name) => (await publish(`oci://${hostOf(name)}/skills/same`)).digest),
  );
  expect(new Set(digests).size).toBe(1);
});
