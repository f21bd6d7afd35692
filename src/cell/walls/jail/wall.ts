/**
 * The wall `jail`: bubblewrap with all namespaces, a seccomp filter, rlimits and, if available, a cgroup.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec, Wall, WallProbe } from '../../contract.ts';
import { inheritableDescriptors, withoutLeaks } from '../../linux/descriptors.ts';
import { RunningProcesses } from '../../linux/running-processes.ts';
import { jailArguments, limitedProgram, readLayout, THREAD_ALLOWANCE } from './arguments.ts';
import {
  probeCgroups,
  type Cgroup,
  type CgroupDriver,
  type CgroupLimits,
} from '../../linux/cgroup/cgroup.ts';
import { SpareCgroups } from '../../linux/cgroup/spare-cgroups.ts';
import { jailEnforcement } from './enforcement.ts';
import { cellIdentity, DEFAULT_CELL_ID, ownIdMaps, refusalOf } from '../../linux/identity.ts';
import { pathIdentity } from '../../linux/path-identity.ts';
import { checkedNiceness, lowerPriority } from '../../linux/priority.ts';
import { CachedProbe } from '../try-program.ts';
import { PRLIMIT, probeJail } from './probe.ts';
import { ProbeMemory } from './probe-memory.ts';
import { OrphanGuard } from './orphan-guard.ts';
import { JailProcess } from './process.ts';
import {
  forkFilters,
  seccompArch,
  seccompFilter,
  SOCKET_FAMILIES,
  type ForkFilters,
} from '../../linux/seccomp/policy.ts';

const BWRAP_PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap'];
/** After the standard streams and the channel. */
const ARGS_FD = 4;
const INFO_FD = 5;
const SECCOMP_FD = 6;

export interface JailOptions {
  /** Path of bubblewrap; default: searched in the system's program folders. */
  bwrap?: string;
  /** uid and gid of cells if the host runs as root. */
  cellId?: number;
  /**
   * Nice value of `subprocess` cells, which matters when CPU time is scarce: 0 (default) is the host's priority, 19 the
   * lowest. Wasm cells serve many short calls and always keep the host's priority.
   */
  niceness?: number;
  /** `false` disables cgroups even if they are available. */
  cgroups?: boolean;
  /**
   * Skips the probe if a jail opened in the last 24 hours under the same circumstances. For processes that make one call: if
   * the jail does not open after all, that call is refused and the next process probes.
   */
  remembersProbe?: boolean;
}

export class JailWall implements Wall {
  readonly name = 'jail';
  readonly #bwrap: string | undefined;
  readonly #cellId: number;
  readonly #niceness: number;
  readonly #memory: ProbeMemory | undefined;
  readonly #cgroups: CgroupDriver | undefined;
  readonly #layout = readLayout();
  readonly #idMaps = ownIdMaps();
  readonly #leaks = inheritableDescriptors();
  readonly #guard = new OrphanGuard(this.#leaks);
  readonly #running = new RunningProcesses();
  readonly #filters = new Map<string, Buffer>();
  readonly #forkCgroups = new SpareCgroups((limits) => this.#makeForkCgroup(limits));
  #cells = 0;
  readonly #probe = new CachedProbe(() => this.#try());

  /** `home`: where probes are remembered. */
  constructor(options: JailOptions = {}, home?: string) {
    this.#bwrap = options.bwrap ?? BWRAP_PLACES.find((place) => existsSync(place));
    this.#cellId = options.cellId ?? DEFAULT_CELL_ID;
    if (options.remembersProbe && home !== undefined && this.#bwrap !== undefined)
      this.#memory = new ProbeMemory({ home, programs: [this.#bwrap, PRLIMIT], cellId: this.#cellId });
    this.#niceness = checkedNiceness(options.niceness ?? 0);
    this.#cgroups = options.cgroups === false ? undefined : probeCgroups();
    this.#cgroups?.sweepStale();
  }

  probe(): Promise<WallProbe> {
    return this.#probe.get();
  }

  #try(): Promise<WallProbe> {
    return probeJail({
      bwrap: this.#bwrap,
      cgroups: this.#cgroups,
      enforces: jailEnforcement(this.#cgroups),
      launch: (spec, grant) => this.launch(spec, grant),
      refusal: () => refusalOf(this.#cellId),
      memory: this.#memory,
    });
  }

  accepts(grant: Grant): void {
    this.filter(grant);
    this.identity(grant);
  }

  launch(spec: LaunchSpec, grant: Grant): JailProcess {
    const mounts = new Map(grant.filesystem.map((path) => [path.guest, pathIdentity(path.host)]));
    const cgroup = this.#cgroups?.create(`cell-${++this.#cells}`, { memory: grant.limits.memory });
    const name = this.#guard.nextName();
    const child = this.#spawn(spec, grant, name);
    const jailed = new JailProcess({
      child,
      info: extraPipe(child, INFO_FD) as Readable,
      name,
      niceness: this.#nicenessOf(spec),
      grant,
      cgroup,
      mounts,
    });
    this.#running.add(jailed, jailed.gone);
    if (this.#memory) this.#forgetUnlessOpened(jailed);
    return jailed;
  }

  /** A jail that opened has a harness that got ready, or a program that ended well. */
  #forgetUnlessOpened(jailed: JailProcess): void {
    jailed.exited.then(
      ({ code }) => jailed.wasConfined || code === 0 || this.#memory?.forget(),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    await this.#running.end();
    this.#guard.close();
    await this.#forkCgroups.close();
    await this.#cgroups?.close();
  }

  /** Whether forks of a zygote can be limited individually; RLIMIT_NPROC counts all of them together. */
  get limitsForks(): boolean {
    return this.#cgroups?.limitsPids ?? false;
  }

  /** A cgroup with the limits of one fork of a zygote. */
  async cgroupFor(grant: Grant): Promise<Cgroup | undefined> {
    const limits = { memory: grant.limits.memory, pids: THREAD_ALLOWANCE, killTogether: false };
    return this.#cgroups && this.#forkCgroups.take(limits);
  }

  #makeForkCgroup(limits: CgroupLimits): Promise<Cgroup> {
    if (!this.#cgroups) throw new Error('No control groups');
    return this.#cgroups.createAsync(`cell-${++this.#cells}`, limits);
  }

  /** The user that a cell with this grant runs as; undefined for the host's own user. */
  identity(grant: Grant): { uid: number; gid: number } | undefined {
    const identity = cellIdentity(grant, this.#cellId, this.#idMaps);
    // Only this group may traverse Skillcell's folders. The owner's own group is never passed on.
    return identity && { ...identity, gid: this.#cellId };
  }

  /** Files of /proc that no cell can read. */
  get masked(): readonly string[] {
    return this.#layout.masked;
  }

  /** The seccomp filter of a cell. */
  filter(grant: Grant, { gateway = false }: Pick<LaunchSpec, 'gateway'> = {}): Buffer {
    const key = `${grant.limits.processes > 0} ${gateway} ${JSON.stringify(grant.syscalls)}`;
    const known = this.#filters.get(key);
    if (known) return known;
    const filter = seccompFilter(this.#seccompOf(grant, gateway));
    this.#filters.set(key, filter);
    return filter;
  }

  /** The same for the forks of a zygote, with their lockdown. */
  forkFilters(grant: Grant, { gateway = false }: Pick<LaunchSpec, 'gateway'> = {}): ForkFilters {
    return forkFilters(this.#seccompOf(grant, gateway));
  }

  #seccompOf({ syscalls, limits }: Grant, gateway: boolean): Parameters<typeof seccompFilter>[0] {
    return {
      syscalls,
      allowProcesses: limits.processes > 0,
      isGrouped: this.#cgroups !== undefined,
      // The cell's proxy listens on loopback, the only interface of its network namespace.
      families: gateway ? Object.values(SOCKET_FAMILIES) : [],
      arch: seccompArch(),
    };
  }

  #nicenessOf({ lowPriority = false }: LaunchSpec): number {
    return lowPriority ? this.#niceness : 0;
  }

  #limited(spec: LaunchSpec, grant: Grant): string[] {
    return limitedProgram(spec, grant, { isGrouped: this.#cgroups !== undefined });
  }

  #spawn(spec: LaunchSpec, grant: Grant, name: string): ChildProcess {
    const filtered = !spec.keepNamespaceRights;
    const args = jailArguments({
      spec,
      grant,
      layout: this.#layout,
      infoFd: INFO_FD,
      seccompFd: filtered ? SECCOMP_FD : undefined,
    });
    const pipes = Array.from({ length: filtered ? SECCOMP_FD : INFO_FD }, () => 'pipe' as const);
    const child = withoutLeaks(['ignore', ...pipes], this.#leaks, (stdio) =>
      spawn(this.#bwrap ?? 'bwrap', ['--args', String(ARGS_FD), ...this.#limited(spec, grant)], {
        // bwrap's own environment is readable in /proc inside, so it is empty.
        env: {},
        argv0: name,
        cwd: '/',
        stdio,
        ...this.identity(grant),
      }),
    );
    // bwrap waits for its arguments before it starts children, which inherit the priority.
    lowerPriority(child.pid, this.#nicenessOf(spec));
    feed(child, ARGS_FD, args.map((arg) => `${arg}\0`).join(''));
    if (filtered) feed(child, SECCOMP_FD, this.filter(grant, spec));
    return child;
  }
}

/** A pipe beyond those in the type of `ChildProcess.stdio`. */
function extraPipe(child: ChildProcess, fd: number): Readable | Writable | null | undefined {
  return (child.stdio as readonly (Readable | Writable | null | undefined)[])[fd];
}

function feed(child: ChildProcess, fd: number, data: string | Buffer): void {
  const pipe = extraPipe(child, fd) as Writable;
  // If bwrap fails early it closes its end; the reason is on stderr.
  pipe.on('error', () => undefined);
  pipe.end(data);
}
