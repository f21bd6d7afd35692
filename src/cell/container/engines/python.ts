/**
 * The engine `python` in a container: the Python of the image runs the skill as it is, with the same harness around it
 * as in a jail.
 *
 * @module
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { mayReachHosts, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import { BASE_ENV } from '../../jail/arguments.ts';
import { GATEWAY_ENV } from '../../native-cell.ts';
import { bytecodeFolder, inspectionKey } from '../../python/bytecode.ts';
import { pythonCallInit } from '../../python/engine.ts';
import { stageHarness } from '../../python/harness.ts';
import type { Interpreter } from '../../python/interpreter.ts';
import type { ImageStore } from '../images/contract.ts';
import { prepareImage, refusesImage, type PreparedImage } from './image.ts';

const PLACES = ['/usr/local/bin/python3', '/usr/bin/python3'];

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

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: '/skill', ...(mayReachHosts(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the Python of the image';
  }

  missing(): undefined {
    return undefined;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const prepared = await prepareImage(this.#options.images, bundle);
    const spec = this.#spec(bundle, prepared);
    return { engine: 'python', bundle, spec: () => spec, init: (grant) => pythonCallInit(bundle, grant) };
  }

  #spec(bundle: Bundle, { image, env, resolved }: PreparedImage): LaunchSpec {
    const { home, interpreter } = this.#options;
    const python = findPython(image.rootfs, resolved.reference);
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

function findPython(rootfs: string, reference: string): { path: string; version: string | undefined } {
  const path = PLACES.find((place) => lstatSync(join(rootfs, place), { throwIfNoEntry: false }));
  if (path !== undefined) return { path, version: versionBehind(join(rootfs, path)) };
  throw new SkillError('skill_unavailable', `The image "${reference}" has no Python: neither ${PLACES.join(' nor ')}`, {
    fix: 'Use an image with Python, such as one of `skillcell build --base python`, or an entry that is no Python.',
    detail: { image: reference, places: PLACES },
  });
}

function versionBehind(file: string): string | undefined {
  return lstatSync(file).isSymbolicLink() ? /python(3\.\d+)$/.exec(readlinkSync(file))?.[1] : undefined;
}
