/**
 * The Python of an image, and how it runs the harness.
 *
 * @module
 */
import type { Bundle } from '../../../load/bundle.ts';
import type { LaunchSpec } from '../../contract.ts';
import type { PreparedImage } from '../../images/engine-image.ts';
import { findProgram, pathInside } from '../../images/inside.ts';
import { stageHarness } from './harness.ts';
import type { Interpreter } from './interpreter.ts';

export interface ImagePython {
  path: string;
  /** Such as `3.11`, if the file name contains it. */
  version: string | undefined;
}

export async function findPython({ resolved, image }: PreparedImage): Promise<ImagePython> {
  const path = await findProgram(resolved, 'python3');
  const file = await pathInside(image.rootfs, path);
  return { path, version: /python(3\.\d+)$/.exec(file ?? '')?.[1] };
}

export interface ContainerPythonParts {
  home: string;
  /** The system Python, which compiles the harness for images with the same version. */
  interpreter: Interpreter | undefined;
  bundle: Bundle;
  prepared: PreparedImage;
  python: ImagePython;
}

export function containerPythonSpec({
  home,
  interpreter,
  bundle,
  prepared: { image, env },
  python,
}: ContainerPythonParts): LaunchSpec {
  const isSame = python.version !== undefined && python.version === interpreter?.version;
  return {
    // Keeps site-packages, because the packages of the image are the reason to use a container.
    argv: [python.path, '-I', '-B', '/harness/main.py'],
    mounts: [
      { host: stageHarness(home, isSame ? interpreter : undefined), guest: '/harness' },
      { host: bundle.stagedDir, guest: '/skill' },
    ],
    env,
    cwd: '/skill',
    image,
  };
}
