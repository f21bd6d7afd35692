/**
 * The wall `container` with only an OCI runtime: no daemon, no image store, and the fastest start.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Grant } from '../../../../policy/grant.ts';
import type { LaunchSpec, WallProbe } from '../../../contract.ts';
import { inheritableDescriptors, withoutLeaks } from '../../../linux/descriptors.ts';
import { probeCgroups, type Cgroup, type CgroupDriver } from '../../../linux/cgroup/cgroup.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../../linux/identity.ts';
import { pathIdentity } from '../../../linux/path-identity.ts';
import { RunningProcesses } from '../../../linux/running-processes.ts';
import type { ContainerBackend } from '../contract.ts';
import { gvisorEnforcement, ociEnforcement } from '../enforcement.ts';
import { ChildRun } from '../child-run.ts';
import { runSetUp } from '../faults.ts';
import { ProbedBackend } from '../base.ts';
import { containerName, ownOwner } from '../owner.ts';
import { probeBackend } from '../probe.ts';
import { unavailable } from '../../try-program.ts';
import { ContainerProcess } from '../process.ts';
import { rootOf } from '../programs.ts';
import { sandboxFor, type Sandbox } from '../sandbox.ts';
import { SocketStreams } from '../socket-streams.ts';
import { ociConfig } from './config.ts';
import { makeRoot } from './root.ts';
import { findOciRuntime, versionOf, type OciRuntime, type OciRuntimeName } from './runtimes.ts';
import { deleteContainer, sweepCells } from './sweep.ts';

/** Runs in a private mount namespace without v2: crun works with cgroup v1, but not if an empty v2 is mounted too. */
const WITHOUT_V2 = [
  ...['/usr/bin/unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c'],
  ...['umount /sys/fs/cgroup/unified && exec "$@"', 'sh'],
];

/** Joins the cgroups listed before `--`, then executes the command after it. */
const JOIN_FIRST = [
  ...['/bin/sh', '-c'],
  ...['while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"', 'sh'],
];
/** gVisor's process that opens files on behalf of its sandboxed kernel. */
const GOFER = 'runsc-gofer';
const NOBODY = { uid: 65_534, gid: 65_534 };

export interface OciWallOptions {
  home: string;
  runtime: OciRuntimeName;
  cellId?: number | undefined;
  /** Folders to search for the runtime. */
  places?: readonly string[] | undefined;
  /** `false` disables cgroups even if they are available; the watchdog then enforces the memory limit. */
  cgroups?: boolean | undefined;
}

export class OciWall extends ProbedBackend implements ContainerBackend {
  readonly name = 'container';
  readonly backendName: OciRuntimeName;
  readonly #options: OciWallOptions;
  readonly #runtime: OciRuntime | undefined;
  readonly #owner = ownOwner();
  readonly #running = new RunningProcesses();
  readonly #leaks = inheritableDescriptors();
  readonly #base: string;
  readonly #cells: string;
  readonly #state: string;
  #cgroups: CgroupDriver | undefined;
  #prefix: readonly string[] = [];

  constructor(options: OciWallOptions) {
    super();
    this.#options = options;
    this.backendName = options.runtime;
    this.#runtime = findOciRuntime(options.runtime, options.places);
    this.#base = join(options.home, 'containers', this.backendName);
    this.#cells = join(this.#base, 'cells');
    this.#state = join(this.#base, 'state');
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return cellIdentity(grant, this.#cellId);
  }

  launch(spec: LaunchSpec, grant: Grant): ContainerProcess {
    const id = containerName(this.#owner);
    const mounts = new Map(grant.filesystem.map((path) => [path.guest, pathIdentity(path.host)]));
    const { rootfs, mounts: inside } = rootOf(spec, this.#base);
    const streams = this.#fetchedStreams(spec, grant);
    const all = streams ? [...inside, streams.mount] : inside;
    const isGrouped = this.#cgroups !== undefined;
    const sandbox = sandboxFor({ spec: { ...spec, mounts: all }, grant, isGrouped });
    const undo = (): void => {
      streams?.close();
      rmSync(join(this.#cells, id), { recursive: true, force: true });
    };
    const folder = runSetUp(() => this.#makeFolder({ id, rootfs, spec, grant, sandbox }), undo);
    const cgroup = this.#cgroupFor(id, sandbox);
    const child = this.#spawn(id, folder, spec.stdio === true);
    const run = new ChildRun({
      child,
      stdio: spec.stdio === true,
      streams,
      maxBytes: grant.limits.output,
      pidFile: join(folder, 'pid'),
      cgroup: () => cgroup,
      filesHolder: this.#runtime?.isGvisor ? GOFER : undefined,
      cleanUp: (wasForced) => this.#cleanUp({ id, cgroup, wasForced }),
    });
    const process = new ContainerProcess({ run, grant, mounts });
    this.#running.add(process, process.gone);
    return process;
  }

  async close(): Promise<void> {
    await this.#running.end();
    await this.#cgroups?.close();
  }

  get #cellId(): number {
    return this.#options.cellId ?? DEFAULT_CELL_ID;
  }

  protected async tryOnce(): Promise<WallProbe> {
    const runtime = this.#runtime;
    if (!runtime)
      return unavailable(
        `${this.backendName} is not installed`,
        `Install it: apt-get install ${this.backendName}`,
      );
    const isRoot = process.getuid?.() === 0;
    if (runtime.needsRoot && !isRoot)
      return unavailable(
        `${this.backendName} works only if Skillcell runs as root`,
        'Install crun or podman, which also work without root.',
      );
    this.#cgroups = this.#options.cgroups === false ? undefined : probeCgroups();
    await sweepCells({ command: this.#command(), cells: this.#cells });
    this.#cgroups?.sweepStale();
    const attempt = async (): Promise<WallProbe> =>
      probeBackend({
        launch: (spec, grant) => this.launch(spec, grant),
        summary: await this.#summary(runtime, isRoot),
        enforces: runtime.joinsGroup ? gvisorEnforcement(this.#cgroups) : ociEnforcement(this.#cgroups),
        fix: `Run \`${this.backendName} run\` with any OCI bundle to see the error by itself.`,
      });
    const first = await attempt();
    if (first.available || !isRoot || !/hybrid/.test(first.summary)) return first;
    this.#prefix = WITHOUT_V2;
    return attempt();
  }

  async #summary(runtime: OciRuntime, isRoot: boolean): Promise<string> {
    const groups = this.#cgroups?.describe ?? 'no writable cgroup: memory by watchdog';
    return `${this.backendName} ${await versionOf(runtime)}, ${isRoot ? 'as root' : 'rootless'}, ${groups}`;
  }

  /** The program and global options of the runtime. */
  #command(): [string, ...string[]] {
    const { program, options } = this.#runtime ?? { program: this.backendName, options: [] };
    const [first = program, ...rest] = [...this.#prefix, program, '--root', this.#state, ...options];
    return [first, ...rest];
  }

  #cgroupFor(id: string, { memoryBytes, pids }: Sandbox): Cgroup | undefined {
    const counts = this.#cgroups?.limitsPids && !this.#runtime?.joinsGroup;
    return this.#cgroups?.create(id, { memory: memoryBytes, ...(counts ? { pids } : {}) });
  }

  #groupFolders(id: string): string[] {
    return (this.#cgroups?.directories ?? []).map((directory) => join(directory, id));
  }

  #makeFolder({ id, rootfs, spec, grant, sandbox }: FolderOptions): string {
    const folder = join(this.#cells, id);
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    mkdirSync(this.#state, { recursive: true, mode: 0o700 });
    const root = join(folder, 'root');
    const image = makeRoot({ root, imageRoot: rootfs, binds: sandbox.binds });
    const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const config = ociConfig({
      sandbox,
      root,
      image,
      inside: spec.image?.user ?? NOBODY,
      outside: this.identity(grant) ?? own,
      setUpGroup: this.#runtime?.needsRoot ? this.#cellId : undefined,
      cgroups: this.#runtime?.joinsGroup ? [] : this.#groupFolders(id),
      isGvisor: this.#runtime?.isGvisor === true,
    });
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    return folder;
  }

  #fetchedStreams(spec: LaunchSpec, grant: Grant): SocketStreams | undefined {
    if (spec.stdio || this.#runtime?.passesDescriptors !== false) return undefined;
    return new SocketStreams(this.#options.home, this.identity(grant)?.uid);
  }

  #spawn(id: string, folder: string, isStdio: boolean): ChildProcess {
    const joined = this.#runtime?.joinsGroup ? [...JOIN_FIRST, ...this.#groupFolders(id), '--'] : [];
    const [program = '', ...args] = [...joined, ...this.#command()];
    const command = ['run', '--bundle', folder, '--pid-file', join(folder, 'pid')];
    const preserve = isStdio || this.#runtime?.passesDescriptors === false ? [] : ['--preserve-fds', '1'];
    const wanted: ('ignore' | 'pipe')[] = isStdio
      ? ['pipe', 'pipe', 'pipe']
      : ['ignore', 'pipe', 'pipe', 'pipe'];
    return withoutLeaks(wanted, this.#leaks, (stdio) =>
      // The environment is empty, so that nothing of the host's leaks into a cell.
      spawn(program, [...args, ...command, ...preserve, id], { env: {}, cwd: '/', stdio }),
    );
  }

  async #cleanUp({ id, cgroup, wasForced }: Leftovers): Promise<void> {
    if (wasForced) await deleteContainer(this.#command(), id);
    await cgroup?.remove();
    await rm(join(this.#cells, id), { recursive: true, force: true });
  }
}

interface Leftovers {
  id: string;
  cgroup: Cgroup | undefined;
  /** The runtime was killed before it could clean up. */
  wasForced: boolean;
}

interface FolderOptions {
  id: string;
  rootfs: string;
  spec: LaunchSpec;
  grant: Grant;
  sandbox: Sandbox;
}
