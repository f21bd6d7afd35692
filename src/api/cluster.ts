/**
 * `skillcell/cluster`: workers and front ends on many machines. Needs the packages of NATS.
 *
 * @module
 */
export { ClusterClient } from '../cluster/client.ts';
export type { ClusterClientOptions, ClusterExecuteOptions } from '../cluster/client.ts';
export { connectCluster } from '../cluster/connect.ts';
export type { ClusterOptions } from '../cluster/connect.ts';
export { setUpCluster } from '../cluster/setup.ts';
export type { SetupOptions, TenantShare } from '../cluster/setup.ts';
export { Worker } from '../cluster/worker.ts';
export type { WorkerOptions } from '../cluster/worker.ts';
export { verifyCluster } from '../cluster/verify.ts';
export type { FleetVerification, Heads, VerifyOptions } from '../cluster/verify.ts';
