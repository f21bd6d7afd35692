/**
 * Finds out whether a jail can be had here, by opening one.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { EnforcementTable } from '../../policy/enforcement.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, LaunchSpec, WallProbe } from '../contract.ts';
import { LogCapture } from '../log-capture.ts';
import type { CgroupDriver } from './cgroup/cgroup.ts';
import { nothingEnforced } from './enforcement.ts';

const PROBE_TIMEOUT_MS = 5000;

export interface JailProbeOptions {
  bwrap: string | undefined;
  cgroups: CgroupDriver | undefined;
  enforces: EnforcementTable;
  launch: (spec: LaunchSpec, grant: Grant) => CellProcess;
}

export async function probeJail(options: JailProbeOptions): Promise<WallProbe> {
  const { bwrap, cgroups, enforces } = options;
  if (process.platform !== 'linux') return unavailable('the jail needs Linux', 'Use another execution mode.');
  if (bwrap === undefined)
    return unavailable('bubblewrap is not installed', 'Install it: apt-get install bubblewrap');
  if (!existsSync('/usr/bin/prlimit')) {
    return unavailable('/usr/bin/prlimit is missing', 'Install it: apt-get install util-linux');
  }
  const failure = await tryJail(options);
  if (failure)
    return unavailable(`bubblewrap cannot open a jail here: ${failure}`, userNamespaceFix(failure));
  const memory = cgroups ? cgroups.describe : 'no writable cgroup: memory by watchdog';
  return { available: true, summary: `${versionOf(bwrap)}, ${memory}`, enforces };
}

/** Undefined when a program ran in the jail and came back; else what bwrap said. */
async function tryJail({ launch }: JailProbeOptions): Promise<string | undefined> {
  const spec: LaunchSpec = { argv: ['/usr/bin/true'], mounts: [], env: {}, cwd: '/' };
  try {
    const jailed = launch(spec, PROBE_GRANT);
    const logs = new LogCapture(jailed.logs, () => undefined);
    const deadline = setTimeout(() => jailed.kill('timeout'), PROBE_TIMEOUT_MS);
    const exit = await jailed.exited;
    clearTimeout(deadline);
    await logs.settle();
    if (exit.code === 0) return undefined;
    return logs.text().trim() || `exit code ${exit.code}, signal ${exit.signal}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const MIB = 1024 * 1024;
const PROBE_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: { timeout: PROBE_TIMEOUT_MS, cpu: 5000, memory: 64 * MIB, output: MIB, processes: 0, scratch: MIB },
  withheld: [],
};

function unavailable(summary: string, fix: string): WallProbe {
  return { available: false, summary, fix, enforces: nothingEnforced(summary) };
}

function userNamespaceFix(failure: string): string {
  return /namespace|permission|Operation not permitted/i.test(failure)
    ? 'Allow unprivileged user namespaces for bwrap (kernel.unprivileged_userns_clone, or an AppArmor profile for bwrap).'
    : 'Run `bwrap --ro-bind / / true` to see the failure on its own; bubblewrap 0.8 or newer is needed.';
}

function versionOf(bwrap: string): string {
  return execFileSync(bwrap, ['--version'], { encoding: 'utf8', env: {} }).trim();
}
