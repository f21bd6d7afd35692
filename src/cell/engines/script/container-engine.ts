/**
 * The engine `script` in a container: commands run in an image with the system programs that they need. The image's Python
 * runs the harness, which runs Python scripts and starts all other programs.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import { quote } from '../../../manifest/quote.ts';
import type { Command, ParsedCommand } from '../../../policy/commands/command.ts';
import { usualRunner } from '../../../policy/commands/defaults.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import type { ResolvedImage } from '../../images/contract.ts';
import { ImageEngine } from '../../images/image-engine.ts';
import { prepareImage, refusesImage } from '../../images/engine-image.ts';
import { findProgram } from '../../images/inside.ts';
import { BASE_ENV, commandEnv, GATEWAY_ENV, GUEST_PACKAGES, workingFolder } from '../../native-env.ts';
import { assertModule } from '../python/command-module.ts';
import type { ImagePythonOptions } from '../python/container-engine.ts';
import { containerPythonSpec, findPython, type ImagePython } from '../python/image-python.ts';
import { assertAsInstalled } from '../python/requirements.ts';
import { packagesOf, PROGRAMS_BY_HOST, scriptInit } from './engine.ts';

export class ContainerScriptEngine extends ImageEngine<ImagePythonOptions> implements Engine {
  readonly name = 'script';

  enforces(wall: EnforcementTable): EnforcementTable {
    return { ...wall, programs: PROGRAMS_BY_HOST };
  }

  refuses(bundle: Bundle, command?: ParsedCommand): string | undefined {
    if (bundle.manifest.container?.params !== undefined)
      return 'commands take no "container.params", which is for a program of the image';
    if (command?.runner === 'node') return 'Node scripts run in subprocess only';
    return refusesImage(bundle);
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: workingFolder(grant), ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the programs of the image';
  }

  /** Programs are those of the image, not of this machine. */
  async findProgram(bundle: Bundle, name: string): Promise<string> {
    const { container = {} } = bundle.manifest;
    const image = await this.options.images.resolve(container, bundle);
    return findProgram(image, name).catch((cause: unknown) => {
      if (!(cause instanceof SkillError)) throw cause;
      throw notInImage(name, image, cause);
    });
  }

  async prepare(bundle: Bundle, command?: Command): Promise<Artifact> {
    const prepared = await prepareImage(this.options.images, bundle);
    const python = await findPython(prepared);
    const runner = command?.runner ?? usualRunner(bundle);
    const packages = this.#packages(bundle, python);
    assertModule(command, bundle, packages);
    const uses =
      packages === undefined ? {} : await assertAsInstalled(packages, { bundle, engine: 'python' });
    const { home, interpreter } = this.options;
    const spec = containerPythonSpec({ home, interpreter, bundle, prepared, python });
    if (packages !== undefined) spec.mounts.push({ host: packages, guest: GUEST_PACKAGES });
    return {
      engine: 'script',
      bundle,
      uses: { ...uses, image: prepared.resolved.digest },
      settings: { runner },
      isCommand: true,
      spec: (grant) => specFor(spec, { grant, packages, isProgram: runner === 'program' }),
      init: (grant) => scriptInit(bundle, grant, runner),
    };
  }

  #packages(bundle: Bundle, { version }: ImagePython): string | undefined {
    const { home, interpreter } = this.options;
    const packages = interpreter && packagesOf({ home, interpreter, bundle });
    if (packages === undefined || version === interpreter?.version) return packages;
    throw new SkillError(
      'skill_unavailable',
      `The packages of the skill are for Python ${interpreter?.version} of this machine, and the image has Python ${version ?? 'of an unknown version'}`,
      {
        fix: `Use an image with Python ${interpreter?.version}, such as one of \`skillcell build --base python\`.`,
        detail: { here: interpreter?.version, image: version },
      },
    );
  }
}

function notInImage(program: string, { reference, digest }: ResolvedImage, cause: SkillError): SkillError {
  return new SkillError(
    'skill_unavailable',
    `The image ${quote(reference)} has no program ${quote(program)}`,
    {
      fix: 'Build an image from the Debian package that has it: skillcell build --base python --with PACKAGE --name NAME',
      detail: { program, image: reference, digest },
      cause,
    },
  );
}

interface SpecOptions {
  grant: Grant;
  packages: string | undefined;
  isProgram: boolean;
}

function specFor(spec: LaunchSpec, { grant, packages, isProgram }: SpecOptions): LaunchSpec {
  // The image says where its programs are.
  const { PATH: _, ...variables } = commandEnv(grant, packages);
  return {
    ...spec,
    env: { ...spec.env, ...variables },
    cwd: workingFolder(grant),
    reservedThreads: (isProgram ? 1 : 0) + (hasGateway(grant) ? 1 : 0),
  };
}
