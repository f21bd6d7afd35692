/**
 * The wall `container`, with the backends that this machine has.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { Grant } from '../../../policy/grant.ts';
import type { CellProcess, LaunchSpec, Wall, WallProbe } from '../../contract.ts';
import { BACKENDS, type ContainerBackend, type ContainerWallOptions, type BackendName } from './contract.ts';
import { DockerWall } from './docker/wall.ts';
import { OciWall } from './oci/wall.ts';
import { PodmanWall } from './podman/wall.ts';
import { busy, CachedProbe, unavailable } from '../try-program.ts';
import { candidates, operatorBackends, unmetDemand } from './choice.ts';

const INSTALL_ONE = 'Install one: apt-get install crun, or podman.';
/** How the summary of a backend ends that is not there. */
const MISSING = 'is not installed';
const CANNOT_START = 'Start a container with it by hand to see the error by itself, or uninstall it.';

export class ContainerWall implements Wall {
  readonly name = 'container';
  readonly #listed: readonly BackendName[] | undefined;
  readonly #backends: ReadonlyMap<BackendName, ContainerBackend>;
  #chosen: ContainerBackend | undefined;
  readonly #probe = new CachedProbe(() => this.#tryAll());

  constructor(options: ContainerWallOptions & { home: string }) {
    this.#listed = options.makes ?? operatorBackends();
    this.#backends = new Map(
      (this.#listed ?? BACKENDS).map((backend) => [backend, openBackend(backend, options)]),
    );
  }

  /** Probes every backend; `forBundle` stops at the first that works. */
  probe(): Promise<WallProbe> {
    return this.#probe.get();
  }

  /** The first working backend that the operator allows and the manifest accepts; this wall if there is none. */
  async forBundle({ manifest }: Bundle): Promise<Wall> {
    const choice = { listed: this.#listed, requested: manifest.container?.runtime };
    const names = candidates(choice);
    if (names.length === 0) throw unmetDemand(choice);
    const found = await this.#firstAvailable(names);
    if (found) return found;
    // For a skill that requests a backend, the error is about that backend, not about containers in general.
    return (choice.requested === undefined ? undefined : this.#backends.get(names[0]!)) ?? this;
  }

  accepts(grant: Grant): void {
    this.#requireBackend().accepts(grant);
  }

  launch(spec: LaunchSpec, grant: Grant): CellProcess {
    return this.#requireBackend().launch(spec, grant);
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return this.#requireBackend().identity(grant);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#backends.values()].map((backend) => backend.close()));
  }

  async #firstAvailable(names: readonly BackendName[]): Promise<ContainerBackend | undefined> {
    for (const name of names) {
      const backend = this.#backends.get(name);
      if (!backend || !(await probeSafely(backend)).available) continue;
      this.#chosen ??= backend;
      return backend;
    }
    return undefined;
  }

  async #tryAll(): Promise<WallProbe> {
    const backends = [...this.#backends.values()];
    const probes = await Promise.all(
      backends.map(async (backend) =>
        Object.assign({ backend: backend.backendName }, await probeSafely(backend)),
      ),
    );
    const summary = probes.map((probe) => probe.summary).join('; ');
    const usual = candidates({ listed: this.#listed, requested: undefined });
    const best = usual
      .map((name) => probes.find(({ backend }) => backend === name))
      .find((probe) => probe?.available);
    if (best) return { available: true, summary, enforces: best.enforces };
    const slow = probes.find(({ isTemporary }) => isTemporary);
    if (slow) return busy(slow.summary);
    // Installing an engine does not help where one is installed and does not work.
    const broken = probes.find((probe) => usual.includes(probe.backend) && !probe.summary.endsWith(MISSING));
    return unavailable(`no container engine: ${summary}`, broken?.fix ?? INSTALL_ONE);
  }

  #requireBackend(): ContainerBackend {
    if (this.#chosen) return this.#chosen;
    throw new SkillError('skill_unavailable', 'No container engine works here', {
      fix: 'Run `skillcell doctor` to see what was tried.',
    });
  }
}

function openBackend(
  backend: BackendName,
  options: ContainerWallOptions & { home: string },
): ContainerBackend {
  const { home, cellId, cgroups, podmanOptions, dockerSocket, places } = options;
  if (backend === 'podman') return new PodmanWall({ home, cellId, podmanOptions });
  if (backend === 'docker') return new DockerWall({ home, cellId, socket: dockerSocket });
  return new OciWall({ home, runtime: backend, cellId, cgroups, places });
}

/** A backend that cannot be probed counts as unavailable, because others may work. */
async function probeSafely(backend: ContainerBackend): Promise<WallProbe> {
  try {
    return await backend.probe();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return unavailable(
      `${backend.backendName} does not work here: ${message.trim().split('\n').at(-1)}`,
      CANNOT_START,
    );
  }
}
