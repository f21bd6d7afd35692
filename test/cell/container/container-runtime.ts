/**
 * A runtime whose skills run in containers of one make, with the shared base image in its home.
 *
 * @module
 */
import { join } from 'node:path';
import type { RuntimeOptions } from '../../../src/index.ts';
import type { MakeName } from '../../../src/cell/container/contract.ts';
import { seedImages } from '../container-images/base-image.ts';
import { openTestRuntime, type TestRuntime } from '../test-runtime.ts';

export const BASE_IMAGE = 'localhost/skillcell-python';

/** What a manifest needs to run in the base image. */
export const IN_CONTAINER: Record<string, unknown> = {
  execution: 'container',
  container: { image: BASE_IMAGE },
};

export async function openContainerRuntime(
  make: MakeName,
  options: RuntimeOptions = {},
): Promise<TestRuntime> {
  const opened = openTestRuntime({ ...options, container: { makes: [make], ...options.container } });
  await seedImages(join(opened.folder, 'home'));
  return opened;
}
