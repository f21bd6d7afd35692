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
import { containerPythonSpec, findPython, type ImagePython } from './image-python.ts';
import type { Interpreter } from './interpreter.ts';
import type { ImageStore } from '../../images/contract.ts';
import { ImageEngine } from '../../images/image-engine.ts';
import { prepareImage, refusesImage, type PreparedImage } from '../../images/engine-image.ts';

/** Of the engines that run the Python of an image. */
export interface ImagePythonOptions {
  home: string;
  images: ImageStore;
  /** The system Python, which compiles the harness for images with the same version, and whose packages commands use. */
  interpreter: Interpreter | undefined;
}

export class ContainerPythonEngine extends ImageEngine<ImagePythonOptions> implements Engine {
  readonly name = 'python';

  enforces(wall: EnforcementTable): EnforcementTable {
    return wall;
  }

  refuses(bundle: Bundle): string | undefined {
    if (!bundle.entry.endsWith('.py')) return `the engine python cannot run "${bundle.entry}"`;
    if (bundle.manifest.container?.params !== undefined)
      return 'the engine python takes no "container.params", which is for a program of the image';
    return refusesImage(bundle);
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: '/skill', ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the Python of the image';
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const prepared = await prepareImage(this.options.images, bundle);
    const spec = this.#spec(bundle, prepared, await findPython(prepared));
    return {
      engine: 'python',
      bundle,
      uses: { image: prepared.resolved.digest },
      spec: (grant) => ({ ...spec, reservedThreads: harnessThreads(grant) }),
      init: (grant) => pythonCallInit(bundle, grant),
    };
  }

  #spec(bundle: Bundle, prepared: PreparedImage, python: ImagePython): LaunchSpec {
    const { home, interpreter } = this.options;
    const spec = containerPythonSpec({ home, interpreter, bundle, prepared, python });
    const isSame = python.version !== undefined && python.version === interpreter?.version;
    const bytecode = isSame ? bytecodeFolder(home, inspectionKey(bundle.stagedDir, spec)) : undefined;
    if (bytecode) spec.mounts.push({ host: bytecode, guest: '/bytecode' });
    return spec;
  }
}
