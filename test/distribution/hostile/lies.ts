/**
 * The lies of a registry. Each changes one thing about an honest skill.
 *
 * @module
 */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { TAR_END } from '../../../src/cell/images/tar-writer.ts';
import { blobPath, INDEX, LIST, MANIFEST, type Lie } from './lie.ts';
import { MANIFESTS } from './manifest-lies.ts';
import { digestOf, entry, pax, type Scene } from './registry.ts';

function redirect(scene: Scene, location: string): void {
  scene.handlers.set(blobPath(scene.content), (_, response) => response.writeHead(307, { location }).end());
}

function challenge(scene: Scene, header: string): void {
  scene.handlers.set('*', (_, response) => response.writeHead(401, { 'www-authenticate': header }).end());
}

const BYTES: readonly Lie[] = [
  {
    name: 'other bytes of the same length',
    code: 'manifest_drift',
    says: 'not the expected ones',
    tell: (scene) => {
      const bytes = Buffer.from(scene.blobs.get(String(scene.content['digest'])) ?? '');
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      scene.answers.set(blobPath(scene.content), { body: bytes });
    },
  },
  {
    name: 'fewer bytes',
    code: 'manifest_drift',
    says: 'not the expected ones',
    tell: (scene) => scene.answers.set(blobPath(scene.content), { body: 'short' }),
  },
  {
    name: 'more bytes than announced',
    code: 'manifest_invalid',
    says: 'sends more than',
    tell: (scene) => scene.answers.set(blobPath(scene.content), { body: Buffer.alloc(100_000) }),
  },
  {
    name: 'a size that is too small',
    code: 'manifest_invalid',
    says: 'sends more than the 10 bytes',
    tell: (scene) => void (scene.content['size'] = 10),
  },
  {
    name: 'a size that is too large',
    code: 'manifest_invalid',
    says: 'instead of',
    tell: (scene) => void (scene.content['size'] = Number(scene.content['size']) + 1),
  },
  ...[-1, 1.5, 2 ** 60, '10', null].map((size): Lie => ({
    name: `the size ${JSON.stringify(size)}`,
    code: 'manifest_invalid',
    says: '"layers.0.size"',
    tell: (scene) => void (scene.content['size'] = size),
  })),
  {
    name: 'a layer that is larger than any skill',
    code: 'manifest_invalid',
    says: 'are allowed',
    tell: (scene) => void (scene.content['size'] = 2 ** 40),
  },
  ...['sha512:00', 'sha256:XYZ', '../../../etc/passwd', 'sha256:' + 'A'.repeat(64)].map((digest): Lie => ({
    name: `the digest ${digest.slice(0, 20)}`,
    code: 'manifest_invalid',
    says: 'is not a sha256 digest',
    tell: (scene) => void (scene.content['digest'] = digest),
  })),
  {
    name: 'a body without end',
    code: 'manifest_invalid',
    says: 'sends more than',
    tell: (scene) =>
      scene.handlers.set(blobPath(scene.content), (_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      }),
  },
  {
    name: 'a byte now and then',
    code: 'skill_unavailable',
    says: 'longer than',
    tell: (scene) =>
      scene.handlers.set(blobPath(scene.content), (_, response) => {
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      }),
  },
  {
    name: 'a head that never ends',
    code: 'skill_unavailable',
    says: 'Could not transfer',
    tell: (scene) =>
      scene.handlers.set(blobPath(scene.content), (request) => {
        const timer = setInterval(() => request.socket.write(`HTTP/1.1 100 Continue\r\n\r\n`), 1);
        request.socket.on('close', () => clearInterval(timer));
      }),
  },
  {
    name: 'a compressed body',
    code: 'untrusted',
    says: 'compressed its answer',
    tell: (scene) =>
      scene.answers.set(blobPath(scene.content), {
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync('x'),
      }),
  },
];

const REDIRECTS: readonly Lie[] = [
  ...(
    [
      ['http on another machine', 'http://registry.invalid/x', 'not encrypted'],
      ['a private address', 'https://10.1.2.3/x', 'private network'],
      ['a private address of IPv6', 'https://[fd00::1]/x', 'private network'],
      ['the metadata of a cloud', 'https://169.254.169.254/latest/', 'nothing is fetched from'],
      ['a file', 'file:///etc/passwd', 'not an https address'],
      ['an address with a password', 'https://user:invented@registry.invalid/', 'user name or password'],
      ['itself', '?again', 'more than 5 times'],
    ] as const
  ).map(([where, location, says]): Lie => ({
    name: `a redirect to ${where}`,
    code: 'untrusted',
    says,
    tell: (scene) => redirect(scene, location),
  })),
  {
    name: 'a redirect to another origin, which has other bytes',
    code: 'manifest_drift',
    says: 'not the expected ones',
    tell: (scene) => redirect(scene, `${scene.elsewhere.origin}/blob`),
  },
  ...(
    [
      ['another server', (scene: Scene) => `${scene.elsewhere.origin}/token`, 'gets no credentials'],
      ['http on another machine', () => 'http://registry.invalid/token', 'not encrypted'],
      ['a file', () => 'file:///etc/passwd', 'not an https address'],
      ['a private address', () => 'https://192.168.7.7/token', 'gets no credentials'],
      ['nonsense', () => 'https://[', 'not a valid URL'],
    ] as const
  ).map(([where, realm, says]): Lie => ({
    name: `a token server at ${where}`,
    code: 'untrusted',
    says,
    tell: (scene) => challenge(scene, `Bearer realm="${realm(scene)}",service="x"`),
  })),
  {
    name: 'two token servers',
    code: 'untrusted',
    says: 'a way that is not supported',
    tell: (scene) =>
      challenge(scene, `Bearer realm="${scene.elsewhere.origin}",realm="https://registry.invalid"`),
  },
  {
    name: 'a challenge of an unknown kind',
    code: 'untrusted',
    says: 'a way that is not supported',
    tell: (scene) => challenge(scene, 'Negotiate abcdef'),
  },
];

const file = entry('demo/SKILL.md', { body: 'x' });
const ARCHIVES: readonly Lie[] = [
  ...(
    [
      ['a path that climbs', [entry('demo/../../evil', { body: 'x' })], 'climbs'],
      ['an absolute path', [entry('/etc/evil', { body: 'x' })], 'absolute'],
      ['a symbolic link', [file, entry('demo/a', { type: '2', linkName: '/etc/passwd' })], 'symbolic link'],
      ['a hard link', [file, entry('demo/a', { type: '1', linkName: 'demo/SKILL.md' })], 'hard link'],
      ['a device', [file, entry('demo/a', { type: '3' })], 'device'],
      ['a named pipe', [file, entry('demo/a', { type: '6' })], 'named pipe'],
      ['a file twice', [file, file], 'twice'],
      ['names that differ in case', [file, entry('demo/skill.MD', { body: 'x' })], 'same as'],
      [
        'names that differ in composition',
        [entry('demo/\u00e9', { body: 'x' }), entry('demo/e\u0301', { body: 'x' })],
        'same as',
      ],
      [
        'a file that is also a folder',
        [entry('demo/a', { body: 'x' }), entry('demo/a/b', { body: 'x' })],
        'file and a folder',
      ],
      ['a path that climbs in an extended header', [pax({ path: 'demo/../../evil' }), file], 'climbs'],
      ['another size in an extended header', [pax({ size: '5' }), file], 'two different sizes'],
      ['a sparse file', [pax({ 'GNU.sparse.major': '1' }), file], 'sparse'],
      ['a name of 5000 characters', [pax({ path: `demo/${'a'.repeat(5000)}` }), file], 'over'],
      ['a name with a line break', [entry('demo/a\nb', { body: 'x' })], 'control'],
      ['a reserved name', [entry('demo/__proto__', { body: 'x' })], 'reserved'],
      ['two top folders', [file, entry('other/a', { body: 'x' })], 'one folder that holds everything'],
      ['3000 files', Array.from({ length: 3000 }, (_, at) => entry(`demo/${at}`)), 'more than 2002 files'],
      ['a lock in both places', [file, entry('demo/skill.lock', { body: '{}' })], 'twice'],
    ] as const
  ).map(([what, parts, says]): Lie => ({
    name: `an archive with ${what}`,
    code: 'manifest_invalid',
    says,
    tell: (scene) => scene.archive(...parts),
  })),
  {
    name: 'other files in the archive',
    code: 'manifest_drift',
    says: 'its files have the digest',
    tell: (scene) => scene.archive(file),
  },
  {
    name: 'bytes after the end of the archive',
    code: 'manifest_invalid',
    says: 'other bytes after its end',
    tell: (scene) =>
      scene.replace(
        scene.content,
        gzipSync(Buffer.concat([file, TAR_END, entry('demo/evil', { body: 'x' })])),
      ),
  },
  {
    name: 'a second archive after the first',
    code: 'manifest_invalid',
    says: 'bytes after',
    tell: (scene) => {
      const one = gzipSync(Buffer.concat([file, TAR_END]));
      scene.replace(scene.content, Buffer.concat([one, gzipSync(file)]));
    },
  },
  {
    name: 'a gzip bomb',
    code: 'manifest_invalid',
    says: 'bytes',
    tell: (scene) => scene.archive(entry('demo/bomb', { body: '\0'.repeat(150 * 1024 ** 2) })),
  },
  {
    name: 'a zstd bomb in place of gzip',
    code: 'manifest_invalid',
    says: 'it is not tar+gzip',
    tell: (scene) => scene.replace(scene.content, zstdCompressSync(Buffer.alloc(100 * 1024 ** 2))),
  },
  {
    name: 'an archive that is cut off',
    code: 'manifest_invalid',
    says: 'refused',
    tell: (scene) => {
      const bytes = scene.blobs.get(String(scene.content['digest'])) ?? Buffer.alloc(0);
      scene.replace(scene.content, bytes.subarray(0, bytes.length - 30));
    },
  },
  {
    name: 'an archive that is not one',
    code: 'manifest_invalid',
    says: 'not an archive',
    tell: (scene) => scene.replace(scene.content, Buffer.from('#!/bin/sh\n'.repeat(100))),
  },
];

const LISTS: readonly Lie[] = [
  {
    name: 'a document about another skill',
    code: 'manifest_invalid',
    says: 'and it is about',
    tell: (scene) => {
      const subject = { mediaType: MANIFEST, digest: digestOf(Buffer.from('other')), size: 1 };
      scene.list([scene.referrer({ subject })]);
    },
  },
  {
    name: 'a document about nothing',
    code: 'manifest_invalid',
    says: 'about "nothing"',
    tell: (scene) => scene.list([scene.referrer({ subject: undefined })]),
  },
  {
    name: 'a list of 5000 documents',
    code: 'manifest_invalid',
    says: '"manifests" is not valid',
    tell: (scene) =>
      scene.list(
        Array.from({ length: 5000 }, () => ({ mediaType: MANIFEST, digest: scene.digest, size: 1 })),
      ),
  },
  {
    name: 'a list whose pages never end',
    code: 'untrusted',
    says: 'does not end',
    tell: (scene) => {
      let page = 0;
      scene.handlers.set(`referrers/${scene.digest}`, (_, response) => {
        const headers = { 'content-type': INDEX, link: `<?page=${++page}>; rel="next"` };
        response.writeHead(200, headers).end(LIST);
      });
    },
  },
  {
    name: 'a list that goes on elsewhere',
    code: 'untrusted',
    says: 'continues its list somewhere else',
    tell: (scene) => scene.list([], { link: `<${scene.elsewhere.origin}/list>; rel="next"` }),
  },
  {
    name: 'a manifest in place of a list',
    code: 'manifest_invalid',
    says: '"mediaType" is not valid',
    tell: (scene) => scene.put(`referrers/${scene.digest}`, INDEX, JSON.stringify(scene.manifest)),
  },
  {
    name: 'a document that is larger than allowed',
    code: 'manifest_invalid',
    says: 'documents have more than',
    tell: (scene) => {
      const layer = { mediaType: 'application/vnd.cyclonedx+json', digest: scene.digest, size: 2 ** 40 };
      scene.list([scene.referrer({ layers: [layer] })]);
    },
  },
];

export const LIES: readonly Lie[] = [...BYTES, ...MANIFESTS, ...REDIRECTS, ...ARCHIVES, ...LISTS];
