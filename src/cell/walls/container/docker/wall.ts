/**
 * The docker backend of the wall `container`, for machines that already have docker.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../../errors.ts';
import { hasGateway, type Grant } from '../../../../policy/grant.ts';
import type { LaunchSpec, WallProbe } from '../../../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../../linux/identity.ts';
import { pathIdentity } from '../../../linux/path-identity.ts';
import { RunningProcesses } from '../../../linux/running-processes.ts';
import type { ContainerBackend } from '../contract.ts';
import { engineEnforcement } from '../enforcement.ts';
import { ProbedBackend } from '../base.ts';
import { containerName, isOrphan, ownOwner } from '../owner.ts';
import { probeBackend } from '../probe.ts';
import { unavailable } from '../../try-program.ts';
import { ContainerProcess } from '../process.ts';
import { rootOf } from '../programs.ts';
import { LABEL, sandboxFor } from '../sandbox.ts';
import { SocketStreams } from '../socket-streams.ts';
import { DockerApi, type DockerInfo } from './api.ts';
import { dockerContainer } from './configuration.ts';
import { DockerRun } from './run.ts';

const USUAL_SOCKET = '/var/run/docker.sock';
const NOBODY = { uid: 65_534, gid: 65_534 };
/** Contains only the symlinks of this system; used for probing. */
const PROGRAMS_IMAGE = 'localhost/skillcell-programs';

export interface DockerWallOptions {
  home: string;
  cellId?: number | undefined;
  socket?: string | undefined;
}

export class DockerWall extends ProbedBackend implements ContainerBackend {
  readonly name = 'container';
  readonly backendName = 'docker';
  readonly #options: DockerWallOptions;
  readonly #socket: string;
  readonly #api: DockerApi;
  readonly #owner = ownOwner();
  readonly #running = new RunningProcesses();
  /** Images that docker has or is loading, by id. */
  readonly #images = new Map<string, Promise<string>>();
  #cgroupVersion: string | undefined;

  constructor(options: DockerWallOptions) {
    super();
    this.#options = options;
    this.#socket = options.socket ?? USUAL_SOCKET;
    this.#api = new DockerApi(this.#socket);
  }

  override accepts(grant: Grant): void {
    super.accepts(grant);
    if (!hasGateway(grant) || this.#cgroupVersion === '2' || process.getuid?.() === 0) return;
    throw new SkillError(
      'unenforceable',
      'Docker on cgroup v1 does not limit TCP buffers, and only root can limit them',
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

  protected async tryOnce(): Promise<WallProbe> {
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
      const message = error instanceof Error ? error.message : String(error);
      return unavailable(
        `docker does not answer on ${this.#socket}: ${message}`,
        'Start docker, and give this user access to its socket.',
      );
    }
  }

  #attempt(info: DockerInfo): Promise<WallProbe> {
    this.#cgroupVersion = info.CgroupVersion;
    const isRootless = (info.SecurityOptions ?? []).some((option) => option.includes('rootless'));
    const limits = { memory: info.MemoryLimit, pids: info.PidsLimit };
    const ignored = limits.memory && limits.pids ? '' : ': memory and process limits are ignored';
    const cgroup = `cgroup v${info.CgroupVersion}`;
    return probeBackend({
      launch: (spec, grant) => this.launch(spec, grant),
      summary: `docker ${info.ServerVersion}, ${isRootless ? 'rootless' : 'as root'}, ${cgroup}${ignored}`,
      enforces: engineEnforcement(cgroup, limits),
      fix: 'Run `docker run` with any image to see the error by itself.',
    });
  }

  /** Loads the image into docker if necessary, and returns its name there. */
  #image({ image }: LaunchSpec, rootfs: string): Promise<string> {
    const id = image?.id ?? PROGRAMS_IMAGE;
    const known = this.#images.get(id);
    if (known) return known;
    const loading = this.#load(id, image ? { archive: image.archive } : { rootfs });
    this.#images.set(id, loading);
    loading.catch(() => this.#images.delete(id));
    return loading;
  }

  async #load(id: string, source: { archive: () => Promise<string> } | { rootfs: string }): Promise<string> {
    if (await this.#api.hasImage(id)) return id;
    if ('archive' in source) await this.#api.load(await source.archive());
    else {
      const tar = spawn('tar', ['-C', source.rootfs, '-c', '.'], { env: {} });
      // Without a listener the error would crash the host; destroying the stream makes the import fail.
      tar.on('error', () => tar.stdout?.destroy(new Error('Could not start tar')));
      await this.#api.importRoot(id, tar.stdout);
    }
    return id;
  }

  /** Removes containers of hosts that died without cleaning up. */
  async #sweep(): Promise<void> {
    const orphans = (await this.#api.list(`${LABEL.name}=${LABEL.value}`)).filter(isOrphan);
    await Promise.all(orphans.map((name) => this.#api.remove(name).catch(() => undefined)));
  }
}
