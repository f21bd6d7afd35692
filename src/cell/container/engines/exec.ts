/**
 * The engine `exec`: any program of an image. It reads one JSON value, the params, from standard input and writes one,
 * the result, to standard output; what it writes to standard error is its log.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { mayReachHosts, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine } from '../../contract.ts';
import { BASE_ENV } from '../../jail/arguments.ts';
import { GATEWAY_ENV } from '../../native-cell.ts';
import type { ImageStore, Refusal } from '../images/contract.ts';
import { findProgram } from '../images/inside.ts';
import { prepareImage, refusesImage, type PreparedImage } from './image.ts';

/** Files that another engine runs. */
const OF_OTHERS = /\.(?:py|wasm|[cm]?[jt]s)$/;

export interface ExecEngineOptions {
  images: ImageStore;
}

export class ExecEngine implements Engine {
  readonly name = 'exec';
  readonly reusable = false;
  readonly #images: ImageStore;

  constructor({ images }: ExecEngineOptions) {
    this.#images = images;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return wall;
  }

  refuses(bundle: Bundle): string | undefined {
    if (OF_OTHERS.test(bundle.entry)) return `the engine exec leaves "${bundle.entry}" to others`;
    return refusesImage(bundle);
  }

  lacks(bundle: Bundle): Promise<Refusal | undefined> {
    return this.#images.refusal(bundle.manifest.container ?? {}, bundle);
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, ...(mayReachHosts(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return 'the program of the image, JSON on its standard streams';
  }

  missing(): undefined {
    return undefined;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const prepared = await prepareImage(this.#images, bundle);
    const { image, env, resolved } = prepared;
    const spec = {
      argv: await programOf(bundle, prepared),
      mounts: [{ host: bundle.stagedDir, guest: '/skill' }],
      env,
      cwd: resolved.config.workdir || '/',
      image,
      stdio: true,
    };
    return { engine: 'exec', bundle, spec: () => spec, init: () => ({}) };
  }
}

/** What the image starts, or the file of the bundle that the manifest names. */
async function programOf({ entry, manifest }: Bundle, { resolved }: PreparedImage): Promise<string[]> {
  const { entrypoint, cmd } = resolved.config;
  if (manifest.entry !== undefined && entry !== manifest.container?.dockerfile && entry !== 'Dockerfile')
    return [`/skill/${entry}`];
  const [program, ...args] = [...entrypoint, ...cmd];
  if (program !== undefined) return [await findProgram(resolved, program), ...args];
  throw new SkillError('skill_unavailable', `The image "${resolved.reference}" names no program to start`, {
    fix: 'Give the image an ENTRYPOINT or CMD, or name a file of the bundle with "entry".',
    detail: { image: resolved.reference },
  });
}
