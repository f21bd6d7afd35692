/**
 * Sigstore bundles from Sigstore's own signer, with a certificate authority and a log on loopback.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/load/digest.ts';
import { signedBytes, type SigstoreSignature } from '../../src/trust/signature.ts';
import { isGoodSigstore, type SigstorePublisher } from '../../src/trust/sigstore.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { IDENTITY, ISSUER, openSigstore, statement, type LocalSigstore } from './local-sigstore.ts';

const LOCK = Buffer.from('{"version":1}\n');

const folder = openFolder();
let sigstore: LocalSigstore;
let signature: SigstoreSignature;
let acme: SigstorePublisher;

function rootFile(name: string, root: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(root));
  return file;
}

beforeAll(async () => {
  sigstore = await openSigstore();
  acme = {
    name: 'acme',
    identity: IDENTITY,
    issuer: ISSUER,
    trustedRoot: rootFile('acme', sigstore.root),
  };
  signature = await sigstore.sign(signedBytes(LOCK));
});
afterAll(async () => {
  await sigstore[Symbol.asyncDispose]();
  removeFolder(folder);
});

describe('a Sigstore bundle', () => {
  it('counts for the identity in its certificate', () => {
    expect(isGoodSigstore(signature, LOCK, acme)).toBe(true);
  });

  it.each<[string, Partial<SigstorePublisher>]>([
    ['another identity', { identity: 'evil@acme.example' }],
    ['a part of the identity', { identity: 'release@acme' }],
    ['a pattern that would match', { identity: '.*' }],
    ['another issuer', { issuer: 'https://login.evil.example' }],
  ])('does not count for %s', (_, over) => {
    expect(isGoodSigstore(signature, LOCK, { ...acme, ...over })).toBe(false);
  });

  it('does not verify with another lock', () => {
    expect(isGoodSigstore(signature, Buffer.from('other'), acme)).toBe(false);
  });

  it('from another authority is refused, whatever identity it claims', async () => {
    await using evil = await openSigstore();
    const claimed = await evil.sign(signedBytes(LOCK));
    const trustedRoot = rootFile('evil', evil.root);
    expect(isGoodSigstore(claimed, LOCK, { ...acme, trustedRoot })).toBe(true);
    expect(isGoodSigstore(claimed, LOCK, acme)).toBe(false);
  });

  it('is refused without its log entry', () => {
    const material = signature.bundle['verificationMaterial'] as object;
    const unlogged = { ...signature.bundle, verificationMaterial: { ...material, tlogEntries: [] } };
    expect(isGoodSigstore({ type: 'sigstore', bundle: unlogged }, LOCK, acme)).toBe(false);
  });

  it('that is not valid is refused, and a missing trusted root is reported', () => {
    expect(isGoodSigstore({ type: 'sigstore', bundle: { a: 1 } }, LOCK, acme)).toBe(false);
    const nowhere = { ...acme, trustedRoot: join(folder, 'nowhere.json') };
    expect(() => isGoodSigstore(signature, LOCK, nowhere)).toThrow('trusted root');
  });

  it.each<[string, () => Buffer, string?]>([
    ['another artifact', () => statement('https://slsa.dev/provenance/v1', sha256(Buffer.from('other')))],
    ['this lock', () => statement('https://slsa.dev/provenance/v1', sha256(LOCK))],
    ['the bytes to sign', () => statement('https://cosign.sigstore.dev/v1', sha256(signedBytes(LOCK)))],
    ['no subject, with the bytes to sign as payload', () => signedBytes(LOCK), 'text/plain'],
  ])('that attests %s is refused', async (_, payload, type) => {
    expect(isGoodSigstore(await sigstore.attest(payload(), type), LOCK, acme)).toBe(false);
  });

  it('with both an attestation and a signature of something else is refused', async () => {
    const attested = await sigstore.attest(statement('https://slsa.dev/provenance/v1', sha256(LOCK)));
    const other = await sigstore.sign(Buffer.from('other'));
    const both = { ...other.bundle, dsseEnvelope: attested.bundle['dsseEnvelope'] };
    expect(isGoodSigstore({ type: 'sigstore', bundle: both }, LOCK, acme)).toBe(false);
    const swapped = { ...attested.bundle, messageSignature: signature.bundle['messageSignature'] };
    expect(isGoodSigstore({ type: 'sigstore', bundle: swapped }, LOCK, acme)).toBe(false);
  });
});
