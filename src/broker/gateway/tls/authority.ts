/**
 * The certificate authority of one cell: created when the cell starts, trusted only by that cell, discarded with it. Its key
 * never leaves the host. Node cannot create certificates; writing these few fields here avoids a library with a dozen
 * dependencies.
 *
 * @module
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import { nodeTls } from '../../../node-network.ts';
import { bits, integer, octets, oid, sequence, set, tagged, time, truth, utf8 } from './der.ts';

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const VERSION_3 = tagged(0, integer(Buffer.of(2)));
const SERVER_AUTH = sequence(oid('1.3.6.1.5.5.7.3.1'));
/** Bits of key usage: digitalSignature, and keyCertSign with cRLSign. */
const [SIGNS_DATA, SIGNS_CERTIFICATES] = [bits(Buffer.of(0x80), 7), bits(Buffer.of(0x06), 1)];

export interface CellAuthority {
  /** The certificate (PEM) that the cell must trust. */
  readonly certificate: string;
  /** The TLS context of a server with this name or address. */
  contextFor(host: string): SecureContext;
}

interface Identity {
  name: Buffer;
  keyId: Buffer;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

export function createAuthority(): CellAuthority {
  const issuer = newIdentity('Skillcell cell');
  const server = newIdentity('server');
  const certificate = toPem(issue(issuer, issuer, authorityExtensions(issuer)));
  const key = server.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const contexts = new Map<string, SecureContext>();
  return {
    certificate,
    contextFor: (host) => {
      const known = contexts.get(host);
      if (known) return known;
      const cert = toPem(issue(server, issuer, serverExtensions(host, server, issuer)));
      const context = nodeTls().createSecureContext({ key, cert, ca: [], minVersion: 'TLSv1.2' });
      contexts.set(host, context);
      return context;
    },
  };
}

function newIdentity(commonName: string): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8(commonName))));
  return { name, keyId: createHash('sha1').update(spki).digest(), publicKey, privateKey };
}

function issue(subject: Identity, issuer: Identity, extensions: Buffer): Buffer {
  const now = Date.now();
  const validity = sequence(time(new Date(now - DAY_MS)), time(new Date(now + DAY_MS)));
  const content = sequence(
    VERSION_3,
    integer(randomBytes(16)),
    ECDSA_WITH_SHA256,
    issuer.name,
    validity,
    subject.name,
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, extensions),
  );
  return sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, issuer.privateKey)));
}

function authorityExtensions({ keyId }: Identity): Buffer {
  return sequence(
    extension('2.5.29.19', sequence(truth()), { critical: true }),
    extension('2.5.29.15', SIGNS_CERTIFICATES, { critical: true }),
    extension('2.5.29.14', octets(keyId)),
  );
}

function serverExtensions(host: string, server: Identity, issuer: Identity): Buffer {
  return sequence(
    extension('2.5.29.19', sequence(), { critical: true }),
    extension('2.5.29.15', SIGNS_DATA, { critical: true }),
    extension('2.5.29.37', SERVER_AUTH),
    extension('2.5.29.14', octets(server.keyId)),
    extension('2.5.29.35', sequence(tagged(0, issuer.keyId, { constructed: false }))),
    extension('2.5.29.17', sequence(alternativeName(host)), { critical: false }),
  );
}

function extension(id: string, value: Buffer, { critical = false } = {}): Buffer {
  return sequence(oid(id), ...(critical ? [truth()] : []), octets(value));
}

function alternativeName(host: string): Buffer {
  const address = addressBytes(host);
  return address
    ? tagged(7, address, { constructed: false })
    : tagged(2, Buffer.from(host, 'ascii'), { constructed: false });
}

function addressBytes(host: string): Buffer | undefined {
  if (isIP(host) === 4) return Buffer.from(host.split('.').map(Number));
  if (isIP(host) !== 6) return undefined;
  const [before = '', after] = host.split('::');
  const groups = (text: string): string[] => text.split(':').filter(Boolean);
  const [head, tail] = [groups(before), groups(after ?? '')];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const words = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  return Buffer.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
