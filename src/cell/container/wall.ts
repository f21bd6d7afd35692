/**
 * The wall `container`, whichever make of it this machine has.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, LaunchSpec, Wall, WallProbe } from '../contract.ts';
import { MAKES, type ContainerMake, type ContainerWallOptions, type MakeName } from './contract.ts';
import { DockerWall } from './docker/wall.ts';
import { OciWall } from './oci/wall.ts';
import { PodmanWall } from './podman/wall.ts';
import { unavailable } from '../try-program.ts';

/** Slower and less tried: only for skills that ask for it. */
const ON_REQUEST: ReadonlySet<MakeName> = new Set(['runsc']);

export class ContainerWall implements Wall {
  readonly name = 'container';
  readonly #makes: readonly ContainerMake[];
  #chosen: ContainerMake | undefined;
  #probe: Promise<WallProbe> | undefined;

  constructor(options: ContainerWallOptions & { home: string }) {
    const wanted = options.makes ?? MAKES;
    this.#makes = wanted.map((make) => openMake(make, options));
  }

  /** Tries every make; `forBundle` tries no more than it has to. */
  probe(): Promise<WallProbe> {
    this.#probe ??= this.#tryAll();
    return this.#probe;
  }

  /** The make that the manifest names, else the first that works here; this wall itself where none does. */
  async forBundle({ manifest }: Bundle): Promise<Wall> {
    const named = manifest.container?.runtime;
    if (named !== undefined) return this.#makes.find(({ make }) => make === named) ?? unknownMake(named);
    return (await this.#firstAvailable()) ?? this;
  }

  accepts(grant: Grant): void {
    this.#any().accepts(grant);
  }

  launch(spec: LaunchSpec, grant: Grant): CellProcess {
    return this.#any().launch(spec, grant);
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return this.#any().identity(grant);
  }

  async close(): Promise<void> {
    await Promise.all(this.#makes.map((make) => make.close()));
  }

  async #firstAvailable(): Promise<ContainerMake | undefined> {
    if (this.#chosen) return this.#chosen;
    for (const make of this.#makes) {
      if (ON_REQUEST.has(make.make)) continue;
      if (!(await make.probe()).available) continue;
      this.#chosen = make;
      return make;
    }
    return undefined;
  }

  async #tryAll(): Promise<WallProbe> {
    const probes = await Promise.all(this.#makes.map(async (make) => ({ make, ...(await make.probe()) })));
    const summary = probes.map((probe) => probe.summary).join('; ');
    const best = probes.find(({ available, make }) => available && !ON_REQUEST.has(make.make));
    if (best) return { available: true, summary, enforces: best.enforces };
    return unavailable(`no container engine: ${summary}`, 'Install one: apt-get install crun, or podman.');
  }

  #any(): ContainerMake {
    if (this.#chosen) return this.#chosen;
    throw new SkillError('skill_unavailable', 'No container engine works here', {
      fix: 'Run `skillcell doctor` to see what was tried.',
    });
  }
}

function openMake(make: MakeName, options: ContainerWallOptions & { home: string }): ContainerMake {
  const { home, cellId, cgroups, podmanOptions, dockerSocket } = options;
  if (make === 'podman') return new PodmanWall({ home, cellId, podmanOptions });
  if (make === 'docker') return new DockerWall({ home, cellId, socket: dockerSocket });
  return new OciWall({ home, runtime: make, cellId, cgroups });
}

function unknownMake(name: string): never {
  throw new SkillError('skill_unavailable', `There is no container runtime "${name}" that Skillcell knows`, {
    fix: `Name one of ${MAKES.join(', ')} under container.runtime, or leave it out.`,
    detail: { field: 'container.runtime', name },
  });
}
