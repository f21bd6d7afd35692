/**
 * Python processes that start from the base image before it is known which skill they will run.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '../../../load/bundle.ts';
import type { LaunchSpec, UnboundStart } from '../../contract.ts';
import { copyTree } from '../../linux/link-tree.ts';
import type { BaseImages } from './base-images.ts';
import type { CellFolders } from './engine.ts';

/** Copying more would take longer than the start that it saves. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 100;
const BUNDLE = 'bundle';

/** Whether a bundle is small enough to be copied for one process. */
export function isSmall(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  if (files.length > MAX_FILES) return false;
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0) <= MAX_BYTES;
}

export interface UnboundPython {
  bundle: Pick<Bundle, 'stagedDir'>;
  images: BaseImages;
  start: (folders: CellFolders, options: ['rehearse']) => LaunchSpec;
}

export function unboundPython({ bundle, images, start }: UnboundPython): UnboundStart {
  return {
    // A process that started from an older image has another specification, so it gets no skill any more.
    spec: (_, place) => start({ image: images.newest.base, bundle: join(place, BUNDLE) }, ['rehearse']),
    fill: (_, place) => {
      // Copied, because a skill can see how many links its own files have.
      copyTree(bundle.stagedDir, join(place, BUNDLE));
      // Counted as a start, which may renew the image.
      images.take();
    },
  };
}
