/**
 * What publishing accepts and refuses, and what `outdated` says, with a real registry.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../free-port.ts';
import { readAttestations } from '../../../src/distribution/attestations.ts';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { parseManifest } from '../../../src/distribution/oci/manifest.ts';
import { parseReference } from '../../../src/distribution/oci/reference.ts';
import { Repository } from '../../../src/distribution/oci/registry.ts';
import { OciSource } from '../../../src/distribution/oci/source.ts';
import { publishSkill, type PublishInput, type Published } from '../../../src/distribution/publish.ts';
import { fetchUpdate, outdated } from '../../../src/distribution/update.ts';
import { sha256 } from '../../../src/load/digest.ts';
import { readBundle } from '../../../src/load/read-bundle.ts';
import type { SkillPin } from '../../../src/load/skills-lock.ts';
import { formatSignatures, makeKeyPair, signLock } from '../../../src/trust/signature.ts';
import { ATTACHMENT_TYPES } from '../../../src/vocabulary/oci-types.ts';
import { IDENTITY, ISSUER, openSigstore, statement } from '../../trust/local-sigstore.ts';
import { startRegistry, type Registry } from '../registries.ts';

const bundle = readBundle(fileURLToPath(new URL('../../../skills/text/word_stats_rust', import.meta.url)));
const LOCK = bundle.lock ?? Buffer.alloc(0);
const OPTIONS = { http: new HttpClient({ env: {} }), credentials: () => Promise.resolve(undefined) };
const SOURCE = new OciSource(OPTIONS);
let room = '';
let registry: Registry;

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'skillcell-publish-'));
  registry = await startRegistry('docker-registry', join(room, 'registry'));
}, 120_000);

afterAll(async () => {
  await registry.stop();
  OPTIONS.http.close();
  rmSync(room, { recursive: true, force: true });
});

interface Changes extends Partial<Omit<PublishInput, 'skill' | 'reference'>> {
  version?: string;
  signature?: Buffer;
}

function publish(name: string, { version = '1.0.0', signature, ...more }: Changes = {}): Promise<Published> {
  const { contents, digest } = bundle;
  const described = { name: 'text/word_stats_rust', version, description: 'Counts words' };
  const skill = { ...described, contents, digest, lock: LOCK, ...(signature ? { signature } : {}) };
  const reference = parseReference(`oci://${registry.host}/${name}`);
  return publishSkill({ skill, requirements: [], reference, ...more }, OPTIONS);
}

async function manifestOf(name: string, tag: string): Promise<ReturnType<typeof parseManifest>> {
  const repository = new Repository(parseReference(`oci://${registry.host}/${name}`), OPTIONS);
  return parseManifest((await repository.pullManifest(tag)).bytes, name);
}

describe('versions', () => {
  test('a skill that names no version has the one of its tag, and is found without naming one', async () => {
    expect(await publish('tags/own:1.2.0', { version: '0.0.0' })).toMatchObject({ isNew: true });
    expect((await manifestOf('tags/own', '1.2.0')).annotations).toMatchObject({
      'org.opencontainers.image.version': '1.2.0',
    });
    await publish('tags/none', { version: '0.0.0' });
    for (const [name, version] of Object.entries({ own: '1.2.0', none: '0.0.0' }))
      expect((await SOURCE.fetch(`oci://${registry.host}/tags/${name}`)).pinned.version).toBe(version);
  });

  test('a tag that is another version than that of the skill is refused, and a version that is no tag', async () => {
    await expect(publish('tags/other:1.2.0')).rejects.toMatchObject({ code: 'usage' });
    const build = publish('tags/build', { version: '1.0.0+build.1' });
    await expect(build).rejects.toThrow('Registries do not allow the version "1.0.0+build.1" as a tag');
  });

  test('a tag that is not a version moves, even that of the component', async () => {
    await publish('tags/moving:latest', { wasm: true });
    const { privateKey } = makeKeyPair();
    expect(await publish('tags/moving:latest', { wasm: true, key: privateKey })).toMatchObject({
      isNew: true,
    });
  });

  test('publishing a component again changes nothing', async () => {
    await publish('tags/wasm', { wasm: true });
    expect(await publish('tags/wasm', { wasm: true })).toMatchObject({ isNew: false, documents: 0 });
    expect((await manifestOf('tags/wasm', '1.0.0-wasm')).layers).toMatchObject([
      { mediaType: 'application/wasm' },
    ]);
  });
});

describe('signatures and attestations', () => {
  test('a signature for another lock is refused before anything is pushed', async () => {
    const { privateKey, publicKey } = makeKeyPair();
    const other = signLock(Buffer.from('another lock'), privateKey);
    const signature = Buffer.from(formatSignatures({ version: 1, signatures: [other] }));
    const refused = publish('signed/wrong', { signature });
    await expect(refused).rejects.toMatchObject({ code: 'signature_invalid' });
    await expect(refused).rejects.toThrow(publicKey);
    await expect(SOURCE.fetch(`oci://${registry.host}/signed/wrong`)).rejects.toMatchObject({
      code: 'skill_unavailable',
    });
  });

  test('an attestation that Sigstore signed is published, and counts for the publisher of the policy', async () => {
    await using sigstore = await openSigstore();
    const provenance = 'https://slsa.dev/provenance/v1';
    const made = await sigstore.attest(statement(provenance, sha256(LOCK)));
    const attached = [{ file: 'provenance.json', text: JSON.stringify(made.bundle) }];
    expect(await publish('attested/good', { attached })).toMatchObject({ documents: 2 });
    const { attachments, pinned } = await SOURCE.fetch(`oci://${registry.host}/attested/good`);
    expect(attachments.map(({ artifactType }) => artifactType)).toContain(ATTACHMENT_TYPES.sigstore);
    const trustedRoot = join(room, 'root.json');
    writeFileSync(trustedRoot, JSON.stringify(sigstore.root));
    const publisher = { name: 'us', identity: IDENTITY, issuer: ISSUER, trustedRoot };
    const read = (identity: string): ReturnType<typeof readAttestations> =>
      readAttestations(attachments, {
        lock: LOCK,
        revision: pinned.revision,
        publishers: [{ ...publisher, identity }],
      });
    expect(await read(IDENTITY)).toContainEqual(
      expect.objectContaining({ kind: 'provenance', publisher: 'us' }),
    );
    const others = await read('other@acme.example');
    expect(others.map((one) => one.publisher)).toEqual([undefined, undefined]);
    const wrong = await sigstore.attest(statement(provenance, sha256(Buffer.from('another lock'))));
    const about = [{ file: 'wrong.json', text: JSON.stringify(wrong.bundle) }];
    await expect(publish('attested/wrong', { attached: about })).rejects.toMatchObject({
      code: 'manifest_drift',
    });
    const message = await sigstore.sign(LOCK);
    for (const text of ['{}', 'no JSON', JSON.stringify(message.bundle)])
      await expect(publish('attested/bad', { attached: [{ file: 'bad.json', text }] })).rejects.toThrow(
        'is not a Sigstore bundle with an attestation',
      );
  });
});

describe('outdated', () => {
  const pinFor = (source: string, tag: string, revision: string): SkillPin => ({
    ...{ source, tag, revision, version: tag, digest: bundle.digest },
    signer: 'unsigned',
    capabilities: [],
  });

  test('names a version that was removed, and a source that does not answer hides nothing', async () => {
    const source = `oci://${registry.host}/stale/removed`;
    const { digest } = await publish('stale/removed');
    await publish('stale/newer');
    const { status } = await fetch(`http://${registry.host}/v2/stale/removed/manifests/${digest}`, {
      method: 'DELETE',
    });
    expect(status).toBe(202);
    const silent = `oci://127.0.0.1:${await freePort()}/stale/silent`;
    const pins = new Map([
      ['text/removed', pinFor(source, '1.0.0', digest)],
      ['text/silent', pinFor(silent, '1.0.0', digest)],
      ['text/newer', pinFor(`oci://${registry.host}/stale/newer`, '0.9.0', digest)],
    ]);
    const found = await outdated(pins, () => SOURCE);
    expect(found).toMatchObject([
      { id: 'text/removed', isGone: true, newer: undefined },
      { id: 'text/silent', error: { code: 'skill_unavailable' } },
      { id: 'text/newer', newer: '1.0.0', isGone: true },
    ]);
    const [removed] = found;
    if (!removed || 'error' in removed) throw new Error('Nothing is known about it');
    await expect(fetchUpdate(removed, () => SOURCE)).rejects.toThrow('no longer has "1.0.0"');
  });
});
