/**
 * `skillcell worker`: runs calls of a cluster.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { connectCluster } from '../../cluster/connect.ts';
import { tenantToken } from '../../cluster/names.ts';
import { Worker } from '../../cluster/worker.ts';
import {
  LiveTenants,
  type OperatorPolicy,
  SkillError,
  type TenantContext,
  createRuntime,
  parseDuration,
} from '../../inside.ts';
import { followPolicy, onHangUp } from '../follow-policy.ts';
import { interruption, STOP_SIGNALS } from '../interruption.ts';
import { surviveFaults } from '../last-resort.ts';
import { clusterPlace } from '../open-cluster.ts';
import { serviceOptions } from '../open-runtime.ts';
import { printLine, printNote } from '../output.ts';
import type { ClusterFlags } from '../shared-options.ts';

const MAX_SLOTS = 1024;

export interface WorkerFlags extends ClusterFlags {
  pool: string;
  slots?: string;
  tenant?: string[];
  tenants?: string;
  workspace?: string;
  /** False with --no-bundles. */
  bundles: boolean;
  drain: string;
  env?: string[];
  policy?: string;
  keepContent?: boolean;
}

export async function worker(flags: WorkerFlags): Promise<number> {
  const slots = slotsOf(flags.slots);
  const place = clusterPlace(flags);
  const drainMs = parseDuration(flags.drain);
  using policy = followPolicy(flags.policy);
  surviveFaults();
  await using runtime = createRuntime({
    caller: 'cluster',
    ...serviceOptions(flags, () => policy.live.current()),
  });
  // Closes receipts that a killed worker left open, before the first new call.
  runtime.assertReceipts();
  const connection = await connectCluster(place);
  const { workspace, tenant } = flags;
  const tenants = flags.tenants === undefined ? undefined : openTenants(flags, () => policy.live.current());
  const running = await Worker.start({
    connection,
    runtime,
    slots,
    name: place.name,
    pool: flags.pool,
    acceptsBundles: flags.bundles,
    ...(tenant ? { tenants: tenant.map(tenantToken) } : {}),
    ...(tenants ? { contextOf: (name: string) => contextOf(tenants, name) } : {}),
    ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
    onNote: (text) => printNote(text),
  });
  printLine(`Worker ${place.name} takes calls of the pool ${flags.pool}, ${slots} at a time`);
  await stopped(() => {
    policy.live.reload();
    tenants?.reload();
  });
  await running.drain(drainMs);
  await connection.drain();
  return 0;
}

function stopped(reload: () => void): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  onHangUp({ reload, stop });
  interruption(STOP_SIGNALS).addEventListener('abort', () => stop(), { once: true });
  return promise;
}

/** Tenants that share nothing. Throws if the file cannot be used. */
function openTenants({ tenants = '', workspace }: WorkerFlags, policy: () => OperatorPolicy): LiveTenants {
  if (workspace !== undefined)
    throw new SkillError('usage', '--workspace and --tenants contradict each other', {
      fix: 'Leave out --workspace: the file of tenants names a workspace for each.',
    });
  return new LiveTenants({ file: resolve(tenants), policy, onNote: (text) => printNote(text) });
}

function contextOf(tenants: LiveTenants, name: string): TenantContext {
  const found = tenants.find(name);
  if (found) return found.context;
  throw new SkillError('untrusted', `This worker does not know the tenant "${name}"`, {
    fix: 'Add the tenant to the file of --tenants, and reload the worker with SIGHUP.',
  });
}

function slotsOf(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  const slots = Number(text);
  if (/^\d+$/.test(text) && slots >= 1 && slots <= MAX_SLOTS) return slots;
  throw new SkillError('usage', `--slots "${text}" is not a whole number from 1 to ${MAX_SLOTS}`, {
    fix: 'Pass a number, such as --slots 4.',
  });
}
