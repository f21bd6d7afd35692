/** Unpacks an image on a disk that is too small and prints the result. Runs in its own mount namespace. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createImageStore } from '../../../src/cell/images/store.ts';
import { ownArchitecture } from '../../../src/cell/images/oci.ts';
import { TAR_END, tarHead } from '../../../src/cell/images/tar-writer.ts';
import { SkillError } from '../../../src/errors.ts';

const SIZE = 2 * 1024 * 1024;
const home = process.argv[2] ?? '';
const images = createImageStore({ home });
const head = tarHead({ type: '0', name: 'large', linkName: '', mode: 0o644, uid: 0, gid: 0, size: SIZE });
const layer = await images.blobs.write([head, Buffer.alloc(SIZE, 1), TAR_END]);
const config = {
  architecture: ownArchitecture(),
  os: 'linux',
  rootfs: { type: 'layers', diff_ids: [layer.digest] },
};
const digest = await images.add(Buffer.from(JSON.stringify(config)), [layer]);
const image = await images.find(digest);
try {
  if (image) await images.rootfs(image);
  console.log('unpacked');
} catch (error) {
  const folder = join(home, 'images/rootfs');
  const left = existsSync(folder) ? readdirSync(folder) : [];
  if (!(error instanceof SkillError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message, left }));
}
