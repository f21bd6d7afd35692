/**
 * The wall `container` by docker, for machines that have it already.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec, WallProbe } from '../../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../jail/identity.ts';
import { pathIdentity } from '../../jail/path-identity.ts';
import { RunningProcesses } from '../../running-processes.ts';
import type { ContainerMake } from '../contract.ts';
import { engineEnforcement } from '../enforcement.ts';
import { containerName, isOrphan, ownOwner } from '../owner.ts';
import { tryMake } from '../probe.ts';
import { unavailable } from '../../try-program.ts';
import { ContainerProcess } from '../process.ts';
import { rootOf } from '../programs.ts';
import { LABEL, profileFor, sandboxFor } from '../sandbox.ts';
import { SocketStreams } from '../socket-streams.ts';
import { DockerApi, type DockerInfo } from './api.ts';
import { dockerContainer } from './configuration.ts';
import { DockerRun } from './run.ts';

const USUAL_SOCKET = '/var/run/docker.sock';
const NOBODY = { uid: 65_534, gid: 65_534 };
/** Has the links of this system and nothing else; for a container that is only tried. */
const PROGRAMS_IMAGE = 'localhost/skillcell-programs';

export interface DockerWallOptions {
  home: string;
  cellId?: number | undefined;
  socket?: string | undefined;
}

export class DockerWall implements ContainerMake {
  readonly name = 'container';
  readonly make = 'docker';
  readonly #options: DockerWallOptions;
  readonly #socket: string;
  readonly #api: DockerApi;
  readonly #owner = ownOwner();
  readonly #running = new RunningProcesses();
  /** Images that docker has, or is being given, by id. */
  readonly #images = new Map<string, Promise<string>>();
  #probe: Promise<WallProbe> | undefined;
  #cgroupVersion: string | undefined;

  constructor(options: DockerWallOptions) {
    this.#options = options;
    this.#socket = options.socket ?? USUAL_SOCKET;
    this.#api = new DockerApi(this.#socket);
  }

  probe(): Promise<WallProbe> {
    this.#probe ??= this.#try();
    return this.#probe;
  }

  accepts(grant: Grant): void {
    profileFor(grant);
    this.identity(grant);
    if (!hasGateway(grant) || this.#cgroupVersion === '2' || process.getuid?.() === 0) return;
    throw new SkillError(
      'unenforceable',
      'Docker on cgroup v1 does not limit the buffers of TCP, and only root can',
      {
        fix: 'Run Skillcell as root, use cgroup v2, or use another execution mode for skills with hosts.',
        detail: { field: 'memory', pair: 'docker' },
      },
    );
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return cellIdentity(grant, this.#options.cellId ?? DEFAULT_CELL_ID);
  }

  launch(spec: LaunchSpec, grant: Grant): ContainerProcess {
    const mounts = new Map(grant.filesystem.map((path) => [path.guest, pathIdentity(path.host)]));
    const { rootfs, mounts: inside } = rootOf(spec, join(this.#options.home, 'containers', 'docker'));
    const streams = spec.stdio ? undefined : new SocketStreams(this.#options.home, this.identity(grant)?.uid);
    const all = streams ? [...inside, streams.mount] : inside;
    const sandbox = sandboxFor({ spec: { ...spec, mounts: all }, grant, isGrouped: true });
    const user = this.identity(grant) ?? spec.image?.user ?? NOBODY;
    const run = new DockerRun({
      api: this.#api,
      name: containerName(this.#owner),
      configure: async () =>
        dockerContainer({
          sandbox,
          user,
          isStdio: spec.stdio === true,
          image: await this.#image(spec, rootfs),
        }),
      streams,
      maxBytes: grant.limits.output,
    });
    const process = new ContainerProcess({ run, grant, mounts });
    this.#running.add(process, process.gone);
    return process;
  }

  async close(): Promise<void> {
    await this.#running.end();
  }

  async #try(): Promise<WallProbe> {
    if (!existsSync(this.#socket))
      return unavailable(
        `docker does not listen on ${this.#socket}`,
        'Install and start it: apt-get install docker.io',
      );
    try {
      const info = await this.#api.info();
      await this.#sweep();
      return await this.#attempt(info);
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return unavailable(
        `docker does not answer on ${this.#socket}: ${said}`,
        'Start it, and let this user reach its socket.',
      );
    }
  }

  #attempt(info: DockerInfo): Promise<WallProbe> {
    this.#cgroupVersion = info.CgroupVersion;
    const isRootless = (info.SecurityOptions ?? []).some((option) => option.includes('rootless'));
    const limits = { memory: info.MemoryLimit, pids: info.PidsLimit };
    const ignored = limits.memory && limits.pids ? '' : ': limits of memory and processes are ignored';
    const cgroup = `cgroup v${info.CgroupVersion}`;
    return tryMake({
      launch: (spec, grant) => this.launch(spec, grant),
      summary: `docker ${info.ServerVersion}, ${isRootless ? 'rootless' : 'as root'}, ${cgroup}${ignored}`,
      enforces: engineEnforcement(cgroup, limits),
      fix: 'Run `docker run` with an image of your own to see the failure on its own.',
    });
  }

  /** What docker calls the image, once it has it. */
  #image({ image }: LaunchSpec, rootfs: string): Promise<string> {
    const id = image?.id ?? PROGRAMS_IMAGE;
    const known = this.#images.get(id);
    if (known) return known;
    const given = this.#give(id, image ? { archive: image.archive } : { rootfs });
    this.#images.set(id, given);
    given.catch(() => this.#images.delete(id));
    return given;
  }

  async #give(id: string, source: { archive: () => Promise<string> } | { rootfs: string }): Promise<string> {
    if (await this.#api.hasImage(id)) return id;
    if ('archive' in source) await this.#api.load(await source.archive());
    else {
      const tar = spawn('tar', ['-C', source.rootfs, '-c', '.'], { env: {} });
      // Without a listener it would end the host; the import fails by the archive that ends too early.
      tar.on('error', () => tar.stdout?.destroy(new Error('tar could not be started')));
      await this.#api.importRoot(id, tar.stdout);
    }
    return id;
  }

  /** Ends what hosts left behind that died before they could. */
  async #sweep(): Promise<void> {
    const orphans = (await this.#api.list(`${LABEL.name}=${LABEL.value}`)).filter(isOrphan);
    await Promise.all(orphans.map((name) => this.#api.remove(name).catch(() => undefined)));
  }
}
