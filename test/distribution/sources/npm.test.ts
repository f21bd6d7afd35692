import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { NpmSource } from '../../../src/distribution/sources/npm.ts';
import { npmRegistries } from '../../../src/distribution/sources/npm-registry.ts';
import { rejectionOf } from '../../thrown.ts';
import { tarOf } from '../../cell/images/helpers.ts';
import { tempFolder } from '../archives/archives.ts';
import { clientFor, serve, type TestServer } from '../http/support.ts';

const SKILL = '---\nname: demo\n---\n';
const integrityOf = (bytes: Buffer): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

interface Release {
  name?: string;
  version?: string;
  integrity?: string | undefined;
  tarball?: string;
  bytes?: Buffer;
  entries?: Parameters<typeof tarOf>[0];
}

function packed(name: string, version: string, entries: Parameters<typeof tarOf>[0] = []): Buffer {
  const own = { name, version, scripts: { postinstall: 'touch /tmp/never' } };
  return gzipSync(
    tarOf([
      { name: 'package/package.json', text: JSON.stringify(own) },
      { name: 'package/SKILL.md', text: SKILL },
      ...entries,
    ]),
  );
}

/** A registry with one package. `lies` change what it says and sends. */
async function registry(
  name: string,
  lies: Release = {},
): Promise<TestServer & { source: NpmSource; integrity: string }> {
  const bytes = lies.bytes ?? packed(name, '1.2.0', lies.entries);
  const said = 'integrity' in lies ? lies.integrity : integrityOf(bytes);
  const path = name.replace('/', '%2f');
  const server = await serve((request, response) => {
    const dist = {
      tarball: lies.tarball ?? `http://${request.headers.host}/files/demo.tgz`,
      integrity: said,
    };
    const release = { name: lies.name ?? name, version: lies.version ?? '1.2.0', dist };
    if (request.url === '/files/demo.tgz') response.end(bytes);
    else if (request.url === `/${path}`)
      response.end(JSON.stringify({ name, versions: { '1.2.0': release } }));
    else if (/\/(?:1\.2\.0|latest|next)$/.test(request.url ?? '')) response.end(JSON.stringify(release));
    else response.writeHead(404).end('{"error":"not found"}');
  });
  const client = clientFor({ limits: { retries: 0 } });
  const findRegistry = npmRegistries({ registry: server.origin });
  return { ...server, source: new NpmSource({ client, findRegistry }), integrity: integrityOf(bytes) };
}

test.each(['demo', '@team/demo'])(
  'the package %s is delivered without its top folder, in an exact version',
  async (name) => {
    const { source, integrity } = await registry(name);
    for (const wanted of ['', '@1.2.0', '@next']) {
      const { files, pinned } = await source.fetch(`npm:${name}${wanted}`);
      expect(pinned).toEqual({ kind: 'npm', source: `npm:${name}`, version: '1.2.0', revision: integrity });
      expect([...files.keys()]).toEqual(['SKILL.md', 'package.json']);
      expect((await source.fetchPinned(pinned)).pinned).toEqual(pinned);
      expect(await source.currentRevision(pinned)).toBe(integrity);
      expect(await source.versions(pinned)).toEqual([{ version: '1.2.0', revision: integrity }]);
    }
  },
);

test.each<[what: string, lies: Release, words: string]>([
  ['other bytes than it says', { integrity: integrityOf(Buffer.from('other')) }, 'not the expected ones'],
  ['no checksum', { integrity: undefined }, 'no SHA-512 checksum'],
  ['a weak checksum', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'no SHA-512 checksum'],
  ['another package', { name: 'other' }, 'about the package "other"'],
  ['another version', { version: '1.3.0' }, 'about version "1.3.0"'],
  [
    'a tarball of another package',
    { bytes: packed('other', '1.2.0') },
    'its package.json says "other@1.2.0"',
  ],
  ['a tarball of another version', { bytes: packed('demo', '9.9.9') }, 'its package.json says "demo@9.9.9"'],
  [
    'a tarball without package.json',
    { bytes: gzipSync(tarOf([{ name: 'package/a' }])) },
    'has no package.json',
  ],
  ['a link', { entries: [{ name: 'package/a', type: '2', linkName: '/etc/passwd' }] }, 'a symbolic link'],
  ['a climbing path', { entries: [{ name: 'package/../../a' }] }, 'climbs out'],
  ['two top folders', { entries: [{ name: 'elsewhere/a' }] }, 'not in the one folder'],
  ['a zip file', { bytes: Buffer.from('PK\u0003\u0004'.padEnd(100, ' ')) }, 'it is not tar\\+gzip'],
  ['a web page', { bytes: Buffer.from('<!doctype html>') }, 'a web page'],
  ['a bomb', { bytes: gzipSync(Buffer.alloc(128 * 2 ** 20)) }, 'after decompression'],
  ['an address without encryption', { tarball: 'http://files.example/demo.tgz' }, 'not encrypted'],
  ['an address in a private network', { tarball: 'https://10.0.0.1/demo.tgz' }, 'Refused to transfer'],
  ['no address', { tarball: 'file:///etc/passwd' }, 'not an https address'],
])('a registry that delivers %s is refused', async (_, lies, words) => {
  const { source } = await registry('demo', lies);
  expect((await rejectionOf(source.fetch('npm:demo@1.2.0'))).message).toMatch(new RegExp(words));
});

test('a version that was published again is refused', async () => {
  const { source } = await registry('demo');
  const { pinned } = await source.fetch('npm:demo@1.2.0');
  const changed = await registry('demo', { entries: [{ name: 'package/more', text: 'x' }] });
  expect(await rejectionOf(changed.source.fetchPinned(pinned))).toMatchObject({ code: 'manifest_drift' });
});

test('a missing version is refused', async () => {
  const { source } = await registry('demo');
  expect((await rejectionOf(source.fetch('npm:demo@7.0.0'))).message).toContain('answered 404');
});

test('npm itself names the registry, even for one scope', async () => {
  const home = tempFolder();
  writeFileSync(
    join(home, '.npmrc'),
    'registry=http://localhost:1/a/\n@team:registry=http://localhost:1/team/\n',
  );
  const { PATH = '' } = process.env;
  const find = npmRegistries({ env: { PATH, HOME: home }, folder: home });
  expect(await find(undefined)).toBe('http://localhost:1/a/');
  expect(await find('@team')).toBe('http://localhost:1/team/');
  expect(await find('@other')).toBe('http://localhost:1/a/');
  const missing = npmRegistries({ env: { PATH: home, HOME: home }, folder: home });
  expect((await rejectionOf(missing(undefined))).message).toContain('npm is not installed');
});
