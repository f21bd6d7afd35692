import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { checkServerIdentity, connect, TLSSocket } from 'node:tls';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../../src/broker/gateway/tls/authority.ts';
import { integer, oid, sequence } from '../../../../src/broker/gateway/tls/der.ts';
import { HelloReader, type Hello } from '../../../../src/broker/gateway/tls/server-name.ts';

describe('the authority of a cell', () => {
  it('is a self-signed certificate that is valid for a day', () => {
    const certificate = new X509Certificate(createAuthority().certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(0.9);
    expect(days).toBeLessThan(1.1);
  });

  it('is different for each cell', () => {
    const [one, two] = [createAuthority(), createAuthority()].map(
      ({ certificate }) => new X509Certificate(certificate),
    );
    expect(one?.serialNumber).not.toBe(two?.serialNumber);
    expect(two && one?.verify(two.publicKey)).toBe(false);
  });

  it.each([
    'api.test',
    '127.0.0.1',
    '2001:db8::1',
    'fe80::1:2',
    '::1',
    `${'a'.repeat(63)}.${'b'.repeat(63)}.test`,
  ])('makes certificates that convince only a client that trusts it that a server is %s', async (host) => {
    const authority = createAuthority();
    const server = createServer((socket) => {
      const secured = new TLSSocket(socket, { isServer: true, secureContext: authority.contextFor(host) });
      secured.on('error', () => undefined);
      secured.once('secure', () => secured.end('hello'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const attempt = async (ca: string, as: string): Promise<string> => {
      const client = connect({
        port,
        host: '127.0.0.1',
        ca: [ca],
        checkServerIdentity: (_, certificate) => checkServerIdentity(as, certificate),
      });
      const { promise, resolve } = Promise.withResolvers<string>();
      client.once('secureConnect', () => resolve('believed'));
      client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      const outcome = await promise;
      client.destroy();
      return outcome;
    };
    expect(await attempt(authority.certificate, host)).toBe('believed');
    expect(await attempt(authority.certificate, 'other.test')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await attempt(createAuthority().certificate, host)).not.toBe('believed');
    server.close();
  });
});

describe('the DER writer', () => {
  it.each([
    ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
    ['2.5.29.17', '0603551d11'],
  ])('writes the identifier %s', (dotted, hex) => expect(oid(dotted).toString('hex')).toBe(hex));

  it('writes no negative number, no needless zeros, and long lengths', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        const written = integer(bytes);
        const content = written.subarray(written.length > 257 ? 4 : written.length > 129 ? 3 : 2);
        expect((content[0] ?? 0) & 0x80).toBe(0);
        if (content.length > 1 && content[0] === 0) expect((content[1] ?? 0) & 0x80).toBe(0x80);
        expect(BigInt(`0x${content.toString('hex')}`)).toBe(
          BigInt(`0x${Buffer.from(bytes).toString('hex')}`),
        );
      }),
    );
    expect(sequence(Buffer.alloc(300)).subarray(0, 4).toString('hex')).toBe('3082012c');
  });
});

const context = createAuthority().contextFor('nobody');

describe('the server name of a client', () => {
  const clients = [
    ['as usual', {}],
    ['in TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['with the share of an unusual group', { minVersion: 'TLSv1.3', ecdhCurve: 'X448' }],
    ['before a second hello is asked for', { minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe3072:X25519' }],
  ] as const;

  it.each(clients)('is read %s, however it is split', async (_, options) => {
    for (const size of [1, 7, 100_000]) {
      expect(await helloFrom({ servername: 'Api.test', ...options }, size)).toEqual({
        isTls: true,
        name: 'Api.test',
      });
      expect(await helloFrom(options, size)).toEqual({ isTls: true, name: undefined });
    }
  });

  it('is not found in bytes that are not TLS, however many', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 6, maxLength: 400 }), async (bytes) => {
        const reader = new HelloReader(context);
        reader.push(Buffer.concat([Buffer.of(0x16, 3, 1, 0, 200), bytes]));
        reader.end();
        expect(await reader.hello).toEqual({ isTls: false });
      }),
      { numRuns: 50 },
    );
    const reader = new HelloReader(context);
    for (let round = 0; round < 70; round++) reader.push(Buffer.alloc(1000, 0x16));
    expect(await reader.hello).toEqual({ isTls: false });
  });
});

async function helloFrom(options: object, size: number): Promise<Hello> {
  const reader = new HelloReader(context);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += size) reader.push(chunk.subarray(at, at + size));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', ...options });
  client.on('error', () => undefined);
  const hello = await reader.hello;
  client.destroy();
  server.close();
  return hello;
}
