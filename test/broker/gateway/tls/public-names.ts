/**
 * A program for a separate network namespace: gives its loopback a public address and tries names.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TLSSocket, type ConnectionOptions } from 'node:tls';
import { createAuthority } from '../../../../src/broker/gateway/tls/authority.ts';
import { NativeClient, speak } from '../native-client.ts';
import { secureServer } from './secure-server.ts';

const PUBLIC = '93.184.215.14';
/** SIOCSIFADDR and SIOCSIFFLAGS on `lo`, in Python because the usual tools are not on every machine. */
const BRING_UP = `
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("${PUBLIC}"))
fcntl.ioctl(s, 0x8916, struct.pack("16s16s", b"lo:1", address))
`;
execFileSync('/usr/bin/python3', ['-c', BRING_UP]);

const authority = createAuthority();
const ca = [authority.certificate];
const { server, inner } = secureServer(authority, 'api.test', (_, response) => response.end('fine'));
server.listen(443, PUBLIC);
await once(server, 'listening');

const lookups: string[] = [];
const lookup = async (name: string): Promise<string[]> => (lookups.push(name), [PUBLIC]);
/** The server runs in this namespace and represents a remote one. */
const own = (): string[] => [];
const network = [{ host: 'api.test' }];
using client = new NativeClient(network, { ca, own, lookup });
using inspecting = new NativeClient(network, { ca, own, lookup: async () => [PUBLIC] }, { inspectTls: true });
using fooled = new NativeClient(
  [{ host: 'other.test' }],
  { ca, own, lookup: async () => [PUBLIC] },
  { inspectTls: true },
);

/** The first address is unused; the second was checked as well. */
using halfGone = new NativeClient(network, { ca, own, lookup: async () => ['93.184.215.15', PUBLIC] });

async function firstLine(from: NativeClient, host: string, options: ConnectionOptions): Promise<string> {
  const socket = await from.secure(`${host}:443`, { checkServerIdentity: () => undefined, ...options });
  if (!(socket instanceof TLSSocket)) return 'ended';
  return (await speak(socket, ['GET / HTTP/1.1', `host: ${host}`])).split('\r\n')[0] ?? '';
}

const rootsOf = ({ gateway }: NativeClient): string[] => [
  readFileSync(join(gateway.folder, 'roots.pem'), 'utf8'),
];
const found = {
  sameName: await firstLine(client, 'api.test', { ca, servername: 'api.test' }),
  upperCase: await firstLine(client, 'API.test', { ca, servername: 'API.test' }),
  otherName: await firstLine(client, 'api.test', { ca, servername: 'evil.test' }),
  noName: await firstLine(client, 'api.test', { ca }),
  inspected: await firstLine(inspecting, 'api.test', { ca: rootsOf(inspecting), servername: 'api.test' }),
  certificateOfAnother: await firstLine(fooled, 'other.test', {
    ca: rootsOf(fooled),
    servername: 'other.test',
  }),
  nextAddress: await firstLine(halfGone, 'api.test', { ca, servername: 'api.test' }),
  plainNextAddress: (await halfGone.ask('https://api.test/')).status,
  plainAsk: (await client.ask('https://api.test/')).status,
  subdomain: (await client.ask('https://deep.api.test/')).status,
  denied: client.gateway.denied.map(({ asked, declared }) => `${asked}: ${declared}`),
  lookups,
};
console.log(JSON.stringify(found));
inner.closeAllConnections();
server.close();
