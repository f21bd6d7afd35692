/**
 * Lies about manifests: types, sizes, digests, annotations, layers.
 *
 * @module
 */
import { digestOf, TAG, type Json, type Scene } from './registry.ts';
import { INDEX, LIST, MANIFEST, type Lie } from './lie.ts';

const annotations = (scene: Scene): Record<string, string> =>
  scene.manifest['annotations'] as Record<string, string>;

export const MANIFESTS: readonly Lie[] = [
  {
    name: 'a wrong digest in a header',
    code: 'manifest_drift',
    says: 'the registry says that its digest is',
    tell: (scene) => {
      const body = JSON.stringify(scene.manifest);
      const headers = { 'content-type': MANIFEST, 'docker-content-digest': digestOf(Buffer.from('other')) };
      scene.answers.set(`manifests/${TAG}`, { headers, body });
    },
  },
  {
    name: 'a manifest of the old format 1',
    code: 'manifest_invalid',
    says: 'old format 1',
    tell: (scene) =>
      scene.put(
        `manifests/${TAG}`,
        'application/vnd.docker.distribution.manifest.v1+json',
        '{"schemaVersion":1,"fsLayers":[]}',
      ),
  },
  {
    name: 'a manifest of docker',
    code: 'manifest_invalid',
    says: '"mediaType" is not valid',
    tell: (scene) => {
      const mediaType = 'application/vnd.docker.distribution.manifest.v2+json';
      scene.put(`manifests/${TAG}`, mediaType, JSON.stringify({ ...scene.manifest, mediaType }));
    },
  },
  {
    name: 'an index in place of a manifest',
    code: 'manifest_invalid',
    says: 'a list of artifacts',
    tell: (scene) => scene.put(`manifests/${TAG}`, INDEX, LIST),
  },
  {
    name: 'an index that calls itself a manifest',
    code: 'manifest_invalid',
    says: 'a list of artifacts',
    tell: (scene) => void (scene.manifest['manifests'] = []),
  },
  {
    name: 'two types for one manifest',
    code: 'untrusted',
    says: 'and it says',
    tell: (scene) => scene.put(`manifests/${TAG}`, INDEX, JSON.stringify(scene.manifest)),
  },
  {
    name: 'a page in place of a manifest',
    code: 'manifest_invalid',
    says: 'not valid JSON',
    tell: (scene) => scene.put(`manifests/${TAG}`, 'text/html', '<html>'),
  },
  {
    name: 'a manifest of 100 MB',
    code: 'manifest_invalid',
    says: 'sends more than the 4194304 bytes',
    tell: (scene) =>
      scene.handlers.set(`manifests/${TAG}`, (_, response) => {
        response
          .writeHead(200, { 'content-type': MANIFEST, 'content-length': String(100e6) })
          .write('{"a":"');
      }),
  },
  {
    name: 'a manifest that is 10000 levels deep',
    code: 'manifest_invalid',
    says: 'is not valid',
    tell: (scene) =>
      scene.put(
        `manifests/${TAG}`,
        MANIFEST,
        `{"mediaType":"${MANIFEST}","layers":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      ),
  },
  {
    name: 'an artifact of another type',
    code: 'manifest_invalid',
    says: 'another kind of artifact',
    tell: (scene) => void (scene.manifest['artifactType'] = 'application/vnd.example.other'),
  },
  {
    name: 'a config of another type',
    code: 'manifest_invalid',
    says: 'another kind of artifact',
    tell: (scene) =>
      void ((scene.manifest['config'] as Json)['mediaType'] = 'application/vnd.oci.image.config.v1+json'),
  },
  {
    name: 'no files',
    code: 'manifest_invalid',
    says: 'no layer with the files',
    tell: (scene) => void scene.layers.shift(),
  },
  {
    name: 'files twice',
    code: 'manifest_invalid',
    says: 'two layers of the same type',
    tell: (scene) => void scene.layers.push({ ...scene.content }),
  },
  {
    name: '1000 layers',
    code: 'manifest_invalid',
    says: '"layers" is not valid',
    tell: (scene) => void scene.layers.push(...Array.from({ length: 1000 }, () => ({ ...scene.content }))),
  },
  {
    name: 'annotations that move the cursor',
    code: 'manifest_invalid',
    says: 'control or invisible characters',
    tell: (scene) => void (annotations(scene)['org.opencontainers.image.title'] = 'demo\u001b[2Kroot'),
  },
  {
    name: 'annotations that turn the text around',
    code: 'manifest_invalid',
    says: 'control or invisible characters',
    tell: (scene) => void (annotations(scene)['org.opencontainers.image.version'] = '1.0\u202e.0'),
  },
  {
    name: 'another digest in the annotation',
    code: 'manifest_drift',
    says: 'its annotation says',
    tell: (scene) =>
      void (annotations(scene)['dev.skillcell.bundle.digest'] = digestOf(Buffer.from('other'))),
  },
  {
    name: 'a lock that was taken away',
    code: 'manifest_drift',
    says: 'which is missing',
    tell: (scene) => void scene.layers.pop(),
  },
  {
    name: 'the lock of another skill',
    code: 'manifest_drift',
    says: 'its skill.lock says',
    tell: (scene) => {
      const { lock } = JSON.parse(String(scene.blobs.get(String(scene.lock['digest'])))) as { lock: string };
      const [path = '', hex = ''] = /"run\.sh": "([0-9a-f]{64})"/.exec(lock) ?? [];
      const changed = lock.replace(path, path.replace(hex, '0'.repeat(64)));
      const files = (JSON.parse(changed) as { files: Record<string, string> }).files;
      const lines = Object.keys(files)
        .sort()
        .map((name) => `${name}\0${files[name]}\n`);
      const own = changed.replace(
        /"digest": "sha256:[0-9a-f]{64}"/,
        `"digest": "${digestOf(Buffer.from(lines.join('')))}"`,
      );
      scene.replace(scene.lock, Buffer.from(JSON.stringify({ lock: own })));
    },
  },
  {
    name: 'a lock layer that is not JSON',
    code: 'manifest_invalid',
    says: 'layer with the lock is malformed',
    tell: (scene) => scene.replace(scene.lock, Buffer.from('lock')),
  },
];
