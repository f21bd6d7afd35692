/**
 * Probes the jail by opening one.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { SkillError } from '../../../errors.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import type { WallProbe } from '../../contract.ts';
import { busy, probeFailure, unavailable, type Launch } from '../try-program.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { CgroupDriver } from '../../linux/cgroup/cgroup.ts';

/** A jail opens in milliseconds, but on a crowded machine it once took more than five seconds. */
const PROBE_TIMEOUT_MS = 30_000;
export const PRLIMIT = '/usr/bin/prlimit';

export interface JailProbeOptions {
  bwrap: string | undefined;
  cgroups: CgroupDriver | undefined;
  enforces: EnforcementTable;
  launch: Launch;
  /** Why there is no user that a cell could run as. */
  refusal: () => SkillError | undefined;
  /** A probe of an earlier process counts; absent: none does. */
  memory?: ProbeMemory | undefined;
}

export async function probeJail(options: JailProbeOptions): Promise<WallProbe> {
  const { bwrap, cgroups, enforces } = options;
  if (process.platform !== 'linux') return unavailable('the jail needs Linux', 'Use another execution mode.');
  if (bwrap === undefined)
    return unavailable('bubblewrap is not installed', 'Install it: apt-get install bubblewrap');
  if (!existsSync(PRLIMIT)) {
    return unavailable(`${PRLIMIT} is missing`, 'Install it: apt-get install util-linux');
  }
  const refused = options.refusal();
  if (refused) return unavailable(refused.message, refused.fix);
  const control = cgroups ? cgroups.describe : 'no writable cgroup';
  const remembered = options.memory?.recall();
  if (remembered !== undefined) return { available: true, summary: `${remembered}, ${control}`, enforces };
  const [failure, version] = await Promise.all([
    probeFailure(options.launch, PROBE_TIMEOUT_MS),
    versionOf(bwrap),
  ]);
  if (failure?.isTemporary) return busy(`bubblewrap cannot open a jail now: ${failure.reason}`);
  if (failure)
    return unavailable(`bubblewrap cannot open a jail here: ${failure.reason}`, fixForJail(failure.reason));
  options.memory?.keep(version);
  return { available: true, summary: `${version}, ${control}`, enforces };
}

export function fixForJail(failure: string): string {
  return /namespace|permission|Operation not permitted/i.test(failure)
    ? 'Allow unprivileged user namespaces for bwrap (kernel.unprivileged_userns_clone, or an AppArmor profile for bwrap).'
    : 'Run `bwrap --ro-bind / / true` to see the error by itself; bubblewrap 0.8 or newer is needed.';
}

/** Only for people to read: the probe says whether it works. */
async function versionOf(bwrap: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ['--version'], { env: {} });
    return stdout.trim();
  } catch {
    return 'bubblewrap';
  }
}
