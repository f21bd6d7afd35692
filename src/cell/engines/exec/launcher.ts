/**
 * The launcher that runs in front of a program of an image: it waits for the call, passes the parameters on, and forwards
 * connections to the gateway. `guest/launch/launch.c` is its source; a static program, because an image may have no
 * shell and no libraries.
 *
 * @module
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../load/digest.ts';
import { publishSync } from '../../../load/publish.ts';
import { packageRoot } from '../../../package-root.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { ContainerRule } from '../../../manifest/manifest.ts';
import type { LaunchSpec } from '../../contract.ts';
import { noProcessFilter, seccompArch } from '../../linux/seccomp/policy.ts';
import type { SeccompArch } from '../../linux/seccomp/syscalls.ts';
import { PROXY_PORT } from '../../native-env.ts';

const GUEST_FOLDER = '/run/launch';
const NAME = 'launch';
const NO_FILTER = '-';

export interface LauncherOptions {
  home: string;
  grant: Grant;
  params: ContainerRule['params'];
}

/** Puts the launcher in front of the program, if this grant or the manifest needs it. */
export function withLauncher(
  spec: LaunchSpec,
  { home, grant, params = 'stdin' }: LauncherOptions,
): LaunchSpec {
  const forwards = hasGateway(grant);
  const writes = grant.filesystem.some(({ access }) => access === 'read-write');
  if (!forwards && !writes && params === 'stdin') return spec;
  // The forwarder is a process, so the profile of the container cannot forbid processes; the launcher does it afterwards.
  const filters = forwards && grant.limits.processes === 0;
  const filter = filters ? noProcessFilter(seccompArch()).toString('hex') : NO_FILTER;
  const port = forwards ? PROXY_PORT : 0;
  return {
    ...spec,
    argv: [`${GUEST_FOLDER}/${NAME}`, params, String(port), filter, ...spec.argv],
    mounts: [...spec.mounts, { host: stageLauncher(home), guest: GUEST_FOLDER }],
    ...(forwards ? { reservedThreads: 1, confinesItself: true } : {}),
  };
}

export function launcherFile(arch: SeccompArch): string {
  return join(packageRoot(), 'guest', 'launch', arch);
}

/** A copy that every cell can read and execute, whatever the modes of the installed package are. */
function stageLauncher(home: string): string {
  const source = launcherFile(seccompArch());
  const staged = join(home, 'launcher', sha256(readFileSync(source)).slice(0, 32));
  if (existsSync(staged)) return staged;
  const write = (draft: string): void => {
    mkdirSync(draft, { recursive: true });
    cpSync(source, join(draft, NAME));
    chmodSync(join(draft, NAME), 0o755);
    chmodSync(draft, 0o755);
  };
  publishSync(staged, write, { keepsExisting: true });
  return staged;
}
