/**
 * The supported OCI runtimes. They take the same configuration; this table lists their differences.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type OciRuntimeName = 'crun' | 'runc' | 'runsc';

export interface OciRuntime {
  readonly name: OciRuntimeName;
  readonly program: string;
  /** Global options. They disable cgroups: a runtime removes its own before they can be read, so we create them. */
  readonly options: readonly string[];
  /** It maps a root user inside in addition to the cell's user; a host that is not root can map only itself. */
  readonly needsRoot: boolean;
  /** The program inside inherits descriptors of the runtime. */
  readonly passesDescriptors: boolean;
  /** The runtime consists of several processes that count towards the limits, so it joins the cgroup before it starts. */
  readonly joinsGroup: boolean;
  /** gVisor: it has its own kernel, mount options and seccomp actions, and a second process that opens files. */
  readonly isGvisor: boolean;
}

const DIFFERENCES: Record<OciRuntimeName, Omit<OciRuntime, 'name' | 'program'>> = {
  crun: {
    options: ['--cgroup-manager=disabled'],
    needsRoot: false,
    passesDescriptors: true,
    joinsGroup: false,
    isGvisor: false,
  },
  runc: { options: [], needsRoot: true, passesDescriptors: true, joinsGroup: false, isGvisor: false },
  runsc: {
    options: ['--network=none', '--ignore-cgroups', '--platform=ptrace', '--host-uds=open', '--oci-seccomp'],
    needsRoot: true,
    passesDescriptors: false,
    joinsGroup: true,
    isGvisor: true,
  },
};

const PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/bin', '/sbin'];

/** The runtime, if installed. PATH is ignored, because anyone who can change it could substitute another program. */
export function findOciRuntime(
  name: OciRuntimeName,
  places: readonly string[] = PLACES,
): OciRuntime | undefined {
  const program = places.map((place) => join(place, name)).find((path) => existsSync(path));
  return program === undefined ? undefined : { name, program, ...DIFFERENCES[name] };
}

export async function versionOf({ program }: OciRuntime): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--version'], { env: {}, encoding: 'utf8' });
  return /\d+\.\d+[^\s]*/.exec(stdout)?.[0] ?? 'of unknown version';
}
