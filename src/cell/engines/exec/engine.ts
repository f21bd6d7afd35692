/**
 * The engine `exec`: runs any program in an image. The program reads the params as one JSON value from standard input, a
 * variable or a file, and writes the result as one JSON value to standard output; standard error is its log.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine } from '../../contract.ts';
import { BASE_ENV } from '../../native-env.ts';
import { GATEWAY_ENV } from '../../native-env.ts';
import type { ImageStore, ResolvedImage } from '../../images/contract.ts';
import { ImageEngine } from '../../images/image-engine.ts';
import { findProgram } from '../../images/inside.ts';
import { withLauncher } from './launcher.ts';
import { assertParamsFit } from './params-size.ts';
import { prepareImage, refusesImage, type PreparedImage } from '../../images/engine-image.ts';

const MAX_FIRST_LINE = 256;
/** Entries that other engines run. */
const OTHER_ENTRIES = /\.(?:py|wasm|[cm]?[jt]s)$/;

export interface ExecEngineOptions {
  home: string;
  images: ImageStore;
}

export class ExecEngine extends ImageEngine<ExecEngineOptions> implements Engine {
  readonly name = 'exec';

  enforces(wall: EnforcementTable): EnforcementTable {
    return wall;
  }

  refuses(bundle: Bundle): string | undefined {
    if (OTHER_ENTRIES.test(bundle.entry)) return `the engine exec cannot run "${bundle.entry}"`;
    return refusesImage(bundle);
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the program of the image, JSON in and out';
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const { home, images } = this.options;
    const prepared = await prepareImage(images, bundle);
    const { image, env, resolved } = prepared;
    const spec = {
      argv: await programOf(bundle, prepared),
      mounts: [{ host: bundle.stagedDir, guest: '/skill' }],
      env,
      cwd: resolved.config.workdir || '/',
      image,
      stdio: true,
    };
    const { params } = bundle.manifest.container ?? {};
    return {
      engine: 'exec',
      bundle,
      uses: { image: resolved.digest },
      spec: (grant) => withLauncher(spec, { home, grant, params }),
      init: () => ({}),
      failsByExit: true,
      acceptsParams: (bytes, { limits }) => assertParamsFit(bytes, { params, scratch: limits.scratch }),
    };
  }
}

/** The command of the image, or the script that the manifest names as its entry. */
async function programOf(bundle: Bundle, { resolved }: PreparedImage): Promise<string[]> {
  const { entry, manifest } = bundle;
  if (manifest.entry !== undefined && entry !== manifest.container?.dockerfile)
    return scriptOf(bundle, resolved);
  const { entrypoint, cmd } = resolved.config;
  const [program, ...args] = [...entrypoint, ...cmd];
  if (program !== undefined) return [await findProgram(resolved, program), ...args];
  throw new SkillError(
    'manifest_invalid',
    `The image "${resolved.reference}" has neither ENTRYPOINT nor CMD`,
    {
      fix: 'Give the image an ENTRYPOINT or CMD, or name a script of the bundle with "entry".',
      detail: { image: resolved.reference },
    },
  );
}

/** Staged files are not executable, so a script is started through the interpreter in its "#!" line. */
async function scriptOf({ stagedDir, entry }: Bundle, image: ResolvedImage): Promise<string[]> {
  const [first = ''] = (await readFile(join(stagedDir, entry), 'latin1'))
    .slice(0, MAX_FIRST_LINE)
    .split('\n');
  const [, program, argument] = /^#!\s*(\S+)(?:\s+(.*\S))?\s*$/.exec(first) ?? [];
  if (program !== undefined) {
    const args = argument === undefined ? [] : [argument];
    return [await findProgram(image, program), ...args, `/skill/${entry}`];
  }
  throw new SkillError(
    'manifest_invalid',
    `The entry "${entry}" is not a script: it does not start with "#!"`,
    {
      fix: 'Start it with a line such as "#!/bin/sh", or put the program into the image and remove "entry".',
      detail: { field: 'entry', entry },
    },
  );
}
