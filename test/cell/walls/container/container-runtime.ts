/**
 * A runtime whose skills run in containers of one backend, with the shared base image in its home.
 *
 * @module
 */
import { join } from 'node:path';
import type { RuntimeOptions } from '../../../../src/index.ts';
import type { BackendName } from '../../../../src/cell/walls/container/contract.ts';
import { seedImages } from '../../images/base-image.ts';
import { openTestRuntime, type TestRuntime } from '../../test-runtime.ts';

export const BASE_IMAGE = 'localhost/skillcell-python';

/** Manifest fields to run in the base image. */
export const IN_CONTAINER: Record<string, unknown> = {
  execution: 'container',
  container: { image: BASE_IMAGE },
};

export async function openContainerRuntime(
  backend: BackendName,
  options: RuntimeOptions = {},
): Promise<TestRuntime> {
  const opened = openTestRuntime({ ...options, container: { makes: [backend], ...options.container } });
  await seedImages(join(opened.folder, 'home'));
  return opened;
}
