/**
 * The engine `python` in a container: the Python of the image runs the skill as it is, with the same harness around it
 * as in a jail.
 *
 * @module
 */
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import { BASE_ENV } from '../../jail/arguments.ts';
import { GATEWAY_ENV } from '../../native-cell.ts';
import { bytecodeFolder, inspectionKey } from '../../python/bytecode.ts';
import { harnessThreads, pythonCallInit } from '../../python/engine.ts';
import { stageHarness } from '../../python/harness.ts';
import type { Interpreter } from '../../python/interpreter.ts';
import type { ImageStore, Refusal } from '../images/contract.ts';
import { findProgram, pathInside } from '../images/inside.ts';
import { prepareImage, refusesImage, type PreparedImage } from './image.ts';

export interface ContainerPythonOptions {
  home: string;
  images: ImageStore;
  /** The system's Python: compiles the harness for images with the same version. */
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
      // With its site-packages: what the image brings along is what the skill is in a container for.
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
  /** Such as `3.11`, where its file name tells. */
  version: string | undefined;
}

async function findPython({ resolved, image }: PreparedImage): Promise<ImagePython> {
  const path = await findProgram(resolved, 'python3');
  const file = await pathInside(image.rootfs, path);
  return { path, version: /python(3\.\d+)$/.exec(file ?? '')?.[1] };
}
