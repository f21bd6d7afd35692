/**
 * What a zygote needs from its wall in addition to `Wall`: the means to confine each fork like a separate process.
 *
 * @module
 */
import type { Grant } from '../../../policy/grant.ts';
import type { CellProcess, LaunchSpec, Wall } from '../../contract.ts';
import type { Cgroup } from '../../linux/cgroup/contract.ts';
import type { ForkFilters } from '../../linux/seccomp/policy.ts';

export interface ForkingWall extends Wall {
  /** Whether limits can be enforced per fork on this machine. */
  readonly limitsForks: boolean;
  /** Files of /proc that a fork must not see. */
  readonly masked: readonly string[];
  cgroupFor(grant: Grant): Promise<Cgroup | undefined>;
  forkFilters(grant: Grant, spec?: Pick<LaunchSpec, 'gateway'>): ForkFilters;
  launch(spec: LaunchSpec, grant: Grant): ForkingProcess;
}

export interface ForkingProcess extends CellProcess {
  /** Its pid on the host, once it is known. */
  readonly innerPid: number | undefined;
  /** Pids of all processes inside. */
  members(): number[];
}
