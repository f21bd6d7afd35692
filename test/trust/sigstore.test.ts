/**
 * Sigstore bundles made by Sigstore's own signer, against a certificate authority and a log on loopback.
 *
 * @module
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bundleToJSON } from '@sigstore/bundle';
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from '@sigstore/mock';
import { FulcioSigner, MessageSignatureBundleBuilder, RekorWitness } from '@sigstore/sign';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedBytes, type SigstoreSignature } from '../../src/trust/signature.ts';
import { isGoodSigstore, type SigstorePublisher } from '../../src/trust/sigstore.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const LOCK = Buffer.from('{"version":1}\n');
const IDENTITY = 'release@acme.example';
const ISSUER = 'https://login.acme.example';
const HOUR_MS = 3_600_000;

const folder = openFolder();
const servers: Server[] = [];
let signature: SigstoreSignature;
let acme: SigstorePublisher;

/** A whole Sigstore of its own, and its trusted root in a file. */
async function openSigstore(name: string): Promise<{ base: string; root: string }> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ctlog = await initializeCTLog(keys);
  const ca = await initializeCA(keys, ctlog);
  const tlog = await initializeTLog(base, keys);
  const handlers = [fulcioHandler(ca, {}), rekorHandler(tlog)];
  server.on('request', (request, response) => {
    const handler = handlers.find(({ path }) => path === request.url);
    void text(request)
      .then((body) => handler?.fn(body))
      .then((reply) => {
        response.writeHead(reply?.statusCode ?? 404, { 'content-type': reply?.contentType ?? 'text/plain' });
        response.end(reply?.response);
      });
  });
  const root = join(folder, `${name}.json`);
  writeFileSync(root, JSON.stringify(trustedRoot({ base, ca, tlog, ctlog })));
  return { base, root };
}

interface Authorities {
  base: string;
  ca: { rootCertificate: ArrayBufferView };
  tlog: { publicKey: Buffer };
  ctlog: { publicKey: ArrayBufferView; logID: ArrayBufferView };
}

function trustedRoot({ base, ca, tlog, ctlog }: Authorities): object {
  const validFor = { start: new Date(Date.now() - HOUR_MS).toISOString() };
  const base64 = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
    Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  const log = (key: ArrayBufferView, keyId: string): object => ({
    baseUrl: base,
    hashAlgorithm: 'SHA2_256',
    logId: { keyId },
    publicKey: { rawBytes: base64(key), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    certificateAuthorities: [
      {
        uri: base,
        subject: { commonName: 'test', organization: 'test' },
        certChain: { certificates: [{ rawBytes: base64(ca.rootCertificate) }] },
        validFor,
      },
    ],
    tlogs: [log(tlog.publicKey, createHash('sha256').update(tlog.publicKey).digest('base64'))],
    ctlogs: [log(ctlog.publicKey, base64(ctlog.logID))],
    timestampAuthorities: [],
  };
}

async function signWith(base: string, data: Buffer): Promise<SigstoreSignature> {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: IDENTITY, email: IDENTITY, email_verified: true, iss: ISSUER, aud: 'sigstore' };
  const token = `${encode({ alg: 'none' })}.${encode(claims)}.`;
  const identityProvider = { getToken: (): Promise<string> => Promise.resolve(token) };
  const builder = new MessageSignatureBundleBuilder({
    signer: new FulcioSigner({ fulcioBaseURL: base, identityProvider }),
    witnesses: [new RekorWitness({ rekorBaseURL: base })],
  });
  const bundle = bundleToJSON(await builder.create({ data }));
  return { type: 'sigstore', bundle: bundle as unknown as Record<string, unknown> };
}

beforeAll(async () => {
  const { base, root } = await openSigstore('acme');
  acme = { name: 'acme', identity: IDENTITY, issuer: ISSUER, trustedRoot: root };
  signature = await signWith(base, signedBytes(LOCK));
});
afterAll(() => {
  for (const server of servers) server.close();
  removeFolder(folder);
});

describe('a Sigstore bundle', () => {
  it('counts for the identity that its certificate names', () => {
    expect(isGoodSigstore(signature, LOCK, acme)).toBe(true);
  });

  it.each<[string, Partial<SigstorePublisher>]>([
    ['another identity', { identity: 'evil@acme.example' }],
    ['a part of the identity', { identity: 'release@acme' }],
    ['a pattern that would fit', { identity: '.*' }],
    ['another issuer', { issuer: 'https://login.evil.example' }],
  ])('does not count for %s', (_, over) => {
    expect(isGoodSigstore(signature, LOCK, { ...acme, ...over })).toBe(false);
  });

  it('fits no other lock', () => {
    expect(isGoodSigstore(signature, Buffer.from('other'), acme)).toBe(false);
  });

  it('of another authority is refused, whatever identity it claims', async () => {
    const evil = await openSigstore('evil');
    const claimed = await signWith(evil.base, signedBytes(LOCK));
    expect(isGoodSigstore(claimed, LOCK, { ...acme, trustedRoot: evil.root })).toBe(true);
    expect(isGoodSigstore(claimed, LOCK, acme)).toBe(false);
  });

  it('without its entry in the log is refused', () => {
    const material = signature.bundle['verificationMaterial'] as object;
    const unlogged = { ...signature.bundle, verificationMaterial: { ...material, tlogEntries: [] } };
    expect(isGoodSigstore({ type: 'sigstore', bundle: unlogged }, LOCK, acme)).toBe(false);
  });

  it('that is none is refused, and a missing trusted root is told aloud', () => {
    expect(isGoodSigstore({ type: 'sigstore', bundle: { a: 1 } }, LOCK, acme)).toBe(false);
    const nowhere = { ...acme, trustedRoot: join(folder, 'nowhere.json') };
    expect(() => isGoodSigstore(signature, LOCK, nowhere)).toThrow('trusted root');
  });
});
