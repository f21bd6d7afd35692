/**
 * The podman backend of the wall `container`: for hosts without root, and for operators who want to see cells in `podman ps`.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Grant } from '../../../../policy/grant.ts';
import type { LaunchSpec, WallProbe } from '../../../contract.ts';
import { inheritableDescriptors, withoutLeaks } from '../../../linux/descriptors.ts';
import { groupAround } from '../../../linux/cgroup/cgroup.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../../linux/identity.ts';
import { pathIdentity } from '../../../linux/path-identity.ts';
import { RunningProcesses } from '../../../linux/running-processes.ts';
import { ChildRun } from '../child-run.ts';
import type { ContainerBackend } from '../contract.ts';
import { engineEnforcement } from '../enforcement.ts';
import { runSetUp } from '../faults.ts';
import { ProbedBackend } from '../base.ts';
import { containerName, isOrphan, ownOwner } from '../owner.ts';
import { probeBackend } from '../probe.ts';
import { unavailable } from '../../try-program.ts';
import { ContainerProcess } from '../process.ts';
import { sandboxFor } from '../sandbox.ts';
import { rootOf } from '../programs.ts';
import { SocketStreams } from '../socket-streams.ts';
import { envFile, LABEL_ARGUMENT, podmanArguments } from './arguments.ts';
import { podmanEnv, podmanInfo, runPodman, type PodmanInfo } from './info.ts';
import { PauseProcess } from './pause.ts';

const PLACES = ['/usr/bin/podman', '/usr/local/bin/podman'];
const NOBODY = { uid: 65_534, gid: 65_534 };
/** Keeps podman from writing events of each call to the system log. */
const OPTIONS = ['--events-backend', 'none'];

export interface PodmanWallOptions {
  home: string;
  cellId?: number | undefined;
  /** Global options, before the command, such as the storage location. */
  podmanOptions?: readonly string[] | undefined;
}

export class PodmanWall extends ProbedBackend implements ContainerBackend {
  readonly name = 'container';
  readonly backendName = 'podman';
  readonly #options: PodmanWallOptions;
  readonly #program: string | undefined = PLACES.find((place) => existsSync(place));
  readonly #owner = ownOwner();
  readonly #leaks = inheritableDescriptors();
  readonly #running = new RunningProcesses();
  readonly #folder: string;
  #runtime: readonly string[] = [];
  #info: PodmanInfo | undefined;
  #pause: PauseProcess | undefined;

  constructor(options: PodmanWallOptions) {
    super();
    this.#options = options;
    this.#folder = join(options.home, 'containers', 'podman');
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return cellIdentity(grant, this.#options.cellId ?? DEFAULT_CELL_ID);
  }

  launch(spec: LaunchSpec, grant: Grant): ContainerProcess {
    const name = containerName(this.#owner);
    const mounts = new Map(grant.filesystem.map((path) => [path.guest, pathIdentity(path.host)]));
    const folder = join(this.#folder, 'cells', name);
    const streams = spec.stdio ? undefined : new SocketStreams(this.#options.home, this.identity(grant)?.uid);
    const all = streams ? { ...spec, mounts: [...spec.mounts, streams.mount] } : spec;
    const undo = (): void => {
      streams?.close();
      rmSync(folder, { recursive: true, force: true });
    };
    const run = new ChildRun({
      child: runSetUp(() => this.#spawn({ name, folder, spec: all, grant }), undo),
      stdio: spec.stdio === true,
      streams,
      maxBytes: grant.limits.output,
      pidFile: join(folder, 'pid'),
      cgroup: groupAround,
      engineRemovesGroup: true,
      cleanUp: async (wasForced) => {
        if (wasForced) await this.#remove(name);
        await rm(folder, { recursive: true, force: true });
      },
    });
    const process = new ContainerProcess({ run, grant, mounts });
    this.#running.add(process, process.gone);
    return process;
  }

  async close(): Promise<void> {
    await this.#running.end();
    if (this.#pause && !(await this.#hasContainers())) this.#pause.end();
  }

  /** True if this podman runs any container, including those of other programs, or cannot tell. */
  async #hasContainers(): Promise<boolean> {
    return runPodman(this.#command(), ['ps', '--quiet']).then(
      ({ stdout }) => stdout.trim() !== '',
      () => true,
    );
  }

  protected async tryOnce(): Promise<WallProbe> {
    if (this.#program === undefined)
      return unavailable('podman is not installed', 'Install it: apt-get install podman uidmap');
    if (process.getuid?.() !== 0) this.#pause = new PauseProcess();
    try {
      this.#info = await podmanInfo(this.#command());
      await this.#sweep();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return unavailable(
        `podman does not work here: ${message.trim().split('\n').at(-1)}`,
        'Run `podman info` to see the error.',
      );
    }
    // Every cell has a limit of memory, so a podman that ignores it can run none.
    if (!this.#info.limits.memory || !this.#info.limits.pids) return ignoresLimits(this.#info);
    const first = await this.#attempt(this.#info);
    if (first.available || !/hybrid/.test(first.summary)) return first;
    // crun, podman's default, fails if an empty cgroup v2 is mounted in addition to v1.
    this.#runtime = ['--runtime', 'runc'];
    return this.#attempt(this.#info);
  }

  #attempt({ version, isRootless, cgroupVersion, limits }: PodmanInfo): Promise<WallProbe> {
    const cgroup = `cgroup ${cgroupVersion}`;
    return probeBackend({
      launch: (spec, grant) => this.launch(spec, grant),
      summary: `podman ${version}, ${isRootless ? 'rootless' : 'as root'}, ${cgroup}`,
      enforces: engineEnforcement(cgroup, limits),
      fix: 'Run `podman run` with any image to see the error by itself.',
    });
  }

  #command(): { program: string; options: string[] } {
    const { podmanOptions = [] } = this.#options;
    return { program: this.#program ?? 'podman', options: [...OPTIONS, ...this.#runtime, ...podmanOptions] };
  }

  #spawn({ name, folder, spec, grant }: SpawnOptions): ChildProcess {
    const { rootfs, mounts } = rootOf(spec, this.#folder);
    // Without cgroup limits nothing runs: the probe says that this podman is unavailable.
    const sandbox = sandboxFor({ spec: { ...spec, mounts }, grant, isGrouped: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const files = {
      pid: join(folder, 'pid'),
      seccomp: join(folder, 'seccomp.json'),
      env: join(folder, 'env'),
    };
    writeFileSync(files.seccomp, JSON.stringify(sandbox.seccomp), { mode: 0o600 });
    writeFileSync(files.env, envFile(sandbox.env), { mode: 0o600 });
    const args = podmanArguments({
      name,
      sandbox,
      files,
      rootfs,
      user: this.identity(grant) ?? spec.image?.user ?? NOBODY,
      isRootless: this.#info?.isRootless ?? false,
      limitsGroups: this.#info?.limits.memory ?? true,
      isStdio: spec.stdio === true,
    });
    const { program, options } = this.#command();
    return withoutLeaks([spec.stdio ? 'pipe' : 'ignore', 'pipe', 'pipe'], this.#leaks, (stdio) =>
      spawn(program, [...options, ...args], { env: podmanEnv(), cwd: '/', stdio }),
    );
  }

  /** Removes containers of hosts that died without cleaning up. */
  async #sweep(): Promise<void> {
    const list = ['ps', '--all', '--filter', `label=${LABEL_ARGUMENT}`, '--format', '{{.Names}}'];
    const { stdout } = await runPodman(this.#command(), list);
    const orphans = stdout.split('\n').filter(isOrphan);
    await Promise.all(orphans.map((name) => this.#remove(name)));
    await Promise.all(
      orphans.map((name) => rm(join(this.#folder, 'cells', name), { recursive: true, force: true })),
    );
  }

  async #remove(name: string): Promise<void> {
    await runPodman(this.#command(), ['rm', '--force', '--time', '0', '--ignore', name]).catch(
      () => undefined,
    );
  }
}

function ignoresLimits({ version, cgroupVersion }: PodmanInfo): WallProbe {
  return unavailable(
    `podman ${version}, rootless, accepts memory and process limits on cgroup ${cgroupVersion} and ignores them`,
    'Delegate the memory and pids controllers of cgroup v2 to this user, or run Skillcell as root.',
  );
}

interface SpawnOptions {
  name: string;
  folder: string;
  spec: LaunchSpec;
  grant: Grant;
}
