/**
 * The OCI runtimes that we know how to call. They take the same configuration; these are their differences.
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
  /** Before the command. Groups are ours to make: what a runtime made, it removes before it could be read. */
  readonly options: readonly string[];
  /** It wants a root inside, and maps more than one user for it; a host that is not root can map itself alone. */
  readonly needsRoot: boolean;
  /** Whether a program inside gets descriptors that the runtime was started with. */
  readonly handsDown: boolean;
  /** It is several processes itself, which are to be counted with what runs inside: it joins the group before it starts. */
  readonly joinsGroup: boolean;
  /** It is gVisor: a kernel of its own, with words of its own for mounts and filters, and a second process that holds the files. */
  readonly isGvisor: boolean;
}

const DIFFERENCES: Record<OciRuntimeName, Omit<OciRuntime, 'name' | 'program'>> = {
  crun: {
    options: ['--cgroup-manager=disabled'],
    needsRoot: false,
    handsDown: true,
    joinsGroup: false,
    isGvisor: false,
  },
  runc: { options: [], needsRoot: true, handsDown: true, joinsGroup: false, isGvisor: false },
  runsc: {
    options: ['--network=none', '--ignore-cgroups', '--platform=ptrace', '--host-uds=open', '--oci-seccomp'],
    needsRoot: true,
    handsDown: false,
    joinsGroup: true,
    isGvisor: true,
  },
};

const PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/bin', '/sbin'];

/** The runtime if it is installed. PATH is not asked: who can change it could put another program in its place. */
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
