/**
 * A component by itself, in the layout that other WebAssembly runtimes read: one layer, and a config that names it.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { parseLock } from '../../load/lock.ts';
import { MANIFEST_TYPES, WASM_TYPES } from '../../vocabulary/oci-types.ts';
import { jsonBlob, makeBlob, type Manifest } from './manifest.ts';
import type { Artifact, SkillContent } from './layout.ts';

const ENTRY = 'skill.wasm';
/** The magic number and the version of a component; a core module has another version. */
const COMPONENT = Buffer.from('0061736d0d000100', 'hex');
/** Required by readers; a fixed time keeps the digest the same. */
const CREATED = '1970-01-01T00:00:00Z';

export function packWasm({
  contents,
  name,
  version,
  lock,
}: Pick<SkillContent, 'contents' | 'name' | 'version' | 'lock'>): Artifact {
  const bytes = contents.get(ENTRY);
  if (!bytes?.subarray(0, COMPONENT.length).equals(COMPONENT))
    throw new SkillError('usage', `The skill "${name}" has no WebAssembly component to publish by itself`, {
      fix: 'Leave out --wasm, or build the skill as a component with `skillcell build`.',
    });
  const layer = makeBlob(WASM_TYPES.content, bytes, `${name.slice(name.indexOf('/') + 1)}-${version}.wasm`);
  const config = jsonBlob(WASM_TYPES.config, {
    created: CREATED,
    author: null,
    architecture: 'wasm',
    os: 'wasip2',
    layerDigests: [layer.descriptor.digest],
    component: {
      exports: ['execute'],
      imports: parseLock(lock.toString('utf8')).inspection.interfaces,
      target: null,
    },
  });
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPES.image,
    config: config.descriptor,
    layers: [layer.descriptor],
  };
  return { manifest: jsonBlob(MANIFEST_TYPES.image, manifest), blobs: [config, layer] };
}
