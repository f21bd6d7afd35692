/**
 * Internals for the package `skillcell-attacks`, which is released with this one. Not for anyone else.
 *
 * @module
 */
export { gatewayOpener } from './broker/gateway/cell-gateway.ts';
export type { EgressOptions } from './broker/gateway/egress.ts';
export { HttpBroker } from './broker/gateway/frames.ts';
export { createAuthority } from './broker/gateway/tls/authority.ts';
export type { CellAuthority } from './broker/gateway/tls/authority.ts';
export { Records } from './broker/records.ts';
export { name, u32 } from './build/binary.ts';
export { HOST } from './build/wit/host.ts';
export { instanceType } from './build/wit/instance-type.ts';
export { findNode } from './cell/engines/node-process/node-binary.ts';
export { packagesFolder, recordEnvironment } from './cell/engines/python/environment.ts';
export { findInterpreter } from './cell/engines/python/interpreter.ts';
export { environmentOf } from './cell/engines/python/requirements.ts';
export { ownArchitecture } from './cell/images/oci.ts';
export { createImageStore } from './cell/images/store.ts';
export { TAR_END, tarHead, tarPadding } from './cell/images/tar-writer.ts';
export { DEFAULT_CELL_ID } from './cell/linux/identity.ts';
export type { AttackSuite } from './cli/attack-suite.ts';
export type { AttackTarget } from './vocabulary/command-choices.ts';
export { SkillError } from './errors.ts';
export { makeToken } from './http/access-file.ts';
export { startService } from './http/server.ts';
export { createRuntime } from './index.ts';
export type { ExecuteOptions, RuntimeOptions } from './index.ts';
export { capabilitySet } from './load/capability-set.ts';
export { sha256 } from './load/digest.ts';
export { serveOverHttp } from './mcp/http/serve-http.ts';
export { toToolResult } from './mcp/result.ts';
export { SkillServer } from './mcp/skill-server.ts';
export type { CapabilityEvent, Outcome } from './outcome.ts';
export { NO_USAGE } from './outcome.ts';
export { packageRoot } from './package-root.ts';
export { POLICY_FILE, findPolicies } from './policy/find-policy.ts';
export type { Grant } from './policy/grant.ts';
export { policyInForce, trustPolicy } from './policy/in-force.ts';
export { DEFAULT_POLICY, parsePolicy } from './policy/operator.ts';
export type { OperatorPolicy } from './policy/operator.ts';
export type { Runtime } from './runtime.ts';
export { questionFor } from './trust/admission.ts';
export { formatSignatures, isGoodEd25519, makeKeyPair, signLock } from './trust/signature.ts';
export type { Ed25519Signature } from './trust/signature.ts';
export { EXIT_CODES } from './vocabulary/error-codes.ts';
export type { ErrorCode } from './vocabulary/error-codes.ts';
export type { LimitName } from './vocabulary/limits.ts';
