/**
 * The engine `python` in a container: the image's Python runs the unmodified skill with the same harness as in a jail.
 *
 * @module
 */
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import { BASE_ENV } from '../../native-env.ts';
import { GATEWAY_ENV } from '../../native-env.ts';
import { bytecodeFolder, inspectionKey } from './bytecode.ts';
import { harnessThreads, pythonCallInit } from './engine.ts';
import { stageHarness } from './harness.ts';
import type { Interpreter } from './interpreter.ts';
import type { ImageStore, Refusal } from '../../images/contract.ts';
import { findProgram, pathInside } from '../../images/inside.ts';
import { prepareImage, refusesImage, type PreparedImage } from '../../images/engine-image.ts';

export interface ContainerPythonOptions {
  home: string;
  images: ImageStore;
  /** The system Python, which compiles the harness for images with the same version. */
  interpreter: Interpreter | undefined;
}

export class ContainerPythonEngine implements Engine {
  readonly name = 'python';
  readonly reusable = false;
  readonly #options: ContainerPythonOptions;

  constructor(options: ContainerPythonOptions) {
    this.#options = options;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return wall;
  }

  refuses(bundle: Bundle): string | undefined {
    if (!bundle.entry.endsWith('.py')) return `the engine python cannot run "${bundle.entry}"`;
    if (bundle.manifest.container?.params !== undefined)
      return 'the engine python takes no "container.params", which is for a program of the image';
    return refusesImage(bundle);
  }

  lacks(bundle: Bundle): Promise<Refusal | undefined> {
    return this.#options.images.refusal(bundle.manifest.container ?? {}, bundle);
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: '/skill', ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the Python of the image';
  }

  missing(): undefined {
    return undefined;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const prepared = await prepareImage(this.#options.images, bundle);
    const spec = this.#spec(bundle, prepared, await findPython(prepared));
    return {
      engine: 'python',
      bundle,
      uses: { image: prepared.resolved.digest },
      spec: (grant) => ({ ...spec, reservedThreads: harnessThreads(grant) }),
      init: (grant) => pythonCallInit(bundle, grant),
    };
  }

  #spec(bundle: Bundle, { image, env }: PreparedImage, python: ImagePython): LaunchSpec {
    const { home, interpreter } = this.#options;
    const isSame = python.version !== undefined && python.version === interpreter?.version;
    const spec: LaunchSpec = {
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
    const bytecode = isSame ? bytecodeFolder(home, inspectionKey(bundle.stagedDir, spec)) : undefined;
    if (bytecode) spec.mounts.push({ host: bytecode, guest: '/bytecode' });
    return spec;
  }
}

interface ImagePython {
  path: string;
  /** Such as `3.11`, if the file name contains it. */
  version: string | undefined;
}

async function findPython({ resolved, image }: PreparedImage): Promise<ImagePython> {
  const path = await findProgram(resolved, 'python3');
  const file = await pathInside(image.rootfs, path);
  return { path, version: /python(3\.\d+)$/.exec(file ?? '')?.[1] };
}
