/**
 * A complete Sigstore on loopback: a certificate authority, a log, and real signers with invented identities.
 *
 * @module
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { bundleToJSON } from '@sigstore/bundle';
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from '@sigstore/mock';
import {
  DSSEBundleBuilder,
  FulcioSigner,
  MessageSignatureBundleBuilder,
  RekorWitness,
  type BundleBuilderOptions,
} from '@sigstore/sign';
import type { SigstoreSignature } from '../../src/trust/signature.ts';

export const IDENTITY = 'release@acme.example';
export const ISSUER = 'https://login.acme.example';
export const IN_TOTO = 'application/vnd.in-toto+json';
const HOUR_MS = 3_600_000;

export interface LocalSigstore extends AsyncDisposable {
  /** In the JSON of Sigstore's tools. */
  root: object;
  sign: (data: Buffer) => Promise<SigstoreSignature>;
  /** A DSSE envelope, like those of `cosign attest`, npm provenance and GitHub attestations. */
  attest: (payload: Buffer, type?: string) => Promise<SigstoreSignature>;
}

export async function openSigstore(): Promise<LocalSigstore> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ctlog = await initializeCTLog(keys);
  const ca = await initializeCA(keys, ctlog);
  const tlog = await initializeTLog(base, keys);
  const handlers = [fulcioHandler(ca, {}), rekorHandler(tlog)];
  server.on('request', (request, response) => {
    const handler = handlers.find(({ path }) => path === request.url);
    void text(request)
      .then((body) => handler?.fn(asLogged(body)))
      .then((reply) => {
        response.writeHead(reply?.statusCode ?? 404, { 'content-type': reply?.contentType ?? 'text/plain' });
        response.end(reply?.response);
      });
  });
  return {
    root: trustedRoot({ base, ca, tlog, ctlog }),
    sign: async (data) =>
      asSignature(await new MessageSignatureBundleBuilder(options(base)).create({ data })),
    attest: async (data, type = IN_TOTO) =>
      asSignature(await new DSSEBundleBuilder(options(base)).create({ data, type })),
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

interface ProposedEntry {
  kind?: string;
  spec?: { proposedContent?: { envelope: string; verifiers: string[] } };
}

/** A real log stores only hashes and signatures of an envelope; the mock would store the proposed entry. */
function asLogged(body: string): string {
  const entry = JSON.parse(body) as ProposedEntry;
  const proposed = entry.kind === 'dsse' ? entry.spec?.proposedContent : undefined;
  if (!proposed) return body;
  const envelope = JSON.parse(proposed.envelope) as { payload: string; signatures: { sig: string }[] };
  const hash = (bytes: string | Buffer): object => ({
    algorithm: 'sha256',
    value: createHash('sha256').update(bytes).digest('hex'),
  });
  const spec = {
    envelopeHash: hash(proposed.envelope),
    payloadHash: hash(Buffer.from(envelope.payload, 'base64')),
    signatures: envelope.signatures.map(({ sig }, at) => ({
      signature: sig,
      verifier: proposed.verifiers[at],
    })),
  };
  return JSON.stringify({ ...entry, spec });
}

function options(base: string): BundleBuilderOptions {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: IDENTITY, email: IDENTITY, email_verified: true, iss: ISSUER, aud: 'sigstore' };
  const token = `${encode({ alg: 'none' })}.${encode(claims)}.`;
  const identityProvider = { getToken: (): Promise<string> => Promise.resolve(token) };
  return {
    signer: new FulcioSigner({ fulcioBaseURL: base, identityProvider }),
    witnesses: [new RekorWitness({ rekorBaseURL: base })],
  };
}

function asSignature(bundle: Parameters<typeof bundleToJSON>[0]): SigstoreSignature {
  return { type: 'sigstore', bundle: bundleToJSON(bundle) };
}

/** An in-toto statement about one file. */
export function statement(predicateType: string, digest: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'artifact', digest: { sha256: digest } }],
      predicateType,
      predicate: {},
    }),
  );
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
