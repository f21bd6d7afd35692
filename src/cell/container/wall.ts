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
import { candidates, makesOfOperator, unmetDemand } from './choice.ts';

const CANNOT_START = 'Start a container with it by hand to see the failure on its own, or uninstall it.';

export class ContainerWall implements Wall {
  readonly name = 'container';
  readonly #listed: readonly MakeName[] | undefined;
  readonly #makes: ReadonlyMap<MakeName, ContainerMake>;
  #chosen: ContainerMake | undefined;
  #probe: Promise<WallProbe> | undefined;

  constructor(options: ContainerWallOptions & { home: string }) {
    this.#listed = options.makes ?? makesOfOperator();
    this.#makes = new Map((this.#listed ?? MAKES).map((make) => [make, openMake(make, options)]));
  }

  /** Tries every make; `forBundle` tries no more than it has to. */
  probe(): Promise<WallProbe> {
    this.#probe ??= this.#tryAll();
    return this.#probe;
  }

  /** The first make that works here of those that the operator allows and the manifest accepts; this wall where none does. */
  async forBundle({ manifest }: Bundle): Promise<Wall> {
    const choice = { listed: this.#listed, wished: manifest.container?.runtime };
    const names = candidates(choice);
    if (names.length === 0) throw unmetDemand(choice);
    const found = await this.#firstAvailable(names);
    if (found) return found;
    // Whoever demands more than the usual is told about that make, and not that there is no container at all.
    return (choice.wished === undefined ? undefined : this.#makes.get(names[0]!)) ?? this;
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
    await Promise.all([...this.#makes.values()].map((make) => make.close()));
  }

  async #firstAvailable(names: readonly MakeName[]): Promise<ContainerMake | undefined> {
    for (const name of names) {
      const make = this.#makes.get(name);
      if (!make || !(await tried(make)).available) continue;
      this.#chosen ??= make;
      return make;
    }
    return undefined;
  }

  async #tryAll(): Promise<WallProbe> {
    const makes = [...this.#makes.values()];
    const probes = await Promise.all(
      makes.map(async (make) => Object.assign({ make: make.make }, await tried(make))),
    );
    const summary = probes.map((probe) => probe.summary).join('; ');
    const usual = candidates({ listed: this.#listed, wished: undefined });
    const best = usual
      .map((name) => probes.find(({ make }) => make === name))
      .find((probe) => probe?.available);
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
  const { home, cellId, cgroups, podmanOptions, dockerSocket, places } = options;
  if (make === 'podman') return new PodmanWall({ home, cellId, podmanOptions });
  if (make === 'docker') return new DockerWall({ home, cellId, socket: dockerSocket });
  return new OciWall({ home, runtime: make, cellId, cgroups, places });
}

/** A make that cannot even be tried is one that is not there: the others may work. */
async function tried(make: ContainerMake): Promise<WallProbe> {
  try {
    return await make.probe();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return unavailable(`${make.make} does not work here: ${said.trim().split('\n').at(-1)}`, CANNOT_START);
  }
}
