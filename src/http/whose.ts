/**
 * Whose everything is that the service answers, counts and stores. `test/http/whose.test.ts` tries each row from the side of
 * another tenant, and fails if a route or a stored thing is missing here.
 *
 * @module
 */

/** `tenant`: only its own part. `operator`: nobody else. `everyone`: the same for all, and nothing about any of them. */
export type Whose = 'tenant' | 'operator' | 'everyone';

export interface Ownership {
  whose: Whose;
  /** How it is kept apart. */
  how: string;
}

/** Every route, by method and path. */
export const ROUTE_OWNERS: Readonly<Record<string, Ownership>> = {
  'get /': { whose: 'everyone', how: 'files of the console' },
  'get /ui/{name}': { whose: 'everyone', how: 'files of the console' },
  'get /openapi.json': { whose: 'everyone', how: 'generated from the code' },
  'get /healthz': { whose: 'everyone', how: 'state of the process' },
  'get /readyz': { whose: 'everyone', how: 'state of the service, and the digest of the operator policy' },
  'get /metrics': { whose: 'tenant', how: 'a tenant gets counters of its own calls; operators get all' },
  'get /v1/me': { whose: 'tenant', how: 'what its token says' },
  'get /v1/machine': { whose: 'everyone', how: 'modes of the machine' },
  'get /v1/skills': { whose: 'tenant', how: 'offered skills, its own uploads, its own approvals' },
  'put /v1/skills': { whose: 'tenant', how: 'into the quarantine of the tenant' },
  'get /v1/skills/{name}': { whose: 'tenant', how: 'as in the list; any other is unknown' },
  'delete /v1/skills/{name}': { whose: 'tenant', how: 'its own uploads; any other is unknown' },
  'post /v1/skills/{name}/execute': {
    whose: 'tenant',
    how: 'with workspace, secrets, policy and approvals of the tenant',
  },
  'post /v1/programs': {
    whose: 'tenant',
    how: 'calls only skills that the tenant sees, each as a call of the tenant',
  },
  'put /v1/skills/{name}/approval': { whose: 'operator', how: 'scope admin' },
  'delete /v1/skills/{name}/approval': { whose: 'operator', how: 'scope admin' },
  'get /v1/calls': { whose: 'tenant', how: 'by the caller in the receipt and in the list of running calls' },
  'get /v1/calls/{id}': { whose: 'tenant', how: 'any other is unknown' },
  'get /v1/calls/{id}/events': {
    whose: 'tenant',
    how: 'any other is not running; streams are counted per tenant',
  },
  'delete /v1/calls/{id}': { whose: 'tenant', how: 'any other is not running' },
  'get /v1/receipts': { whose: 'tenant', how: 'without position and hash, which depend on others' },
  'get /v1/receipts/verify': { whose: 'operator', how: 'scope admin' },
  'get /v1/receipts/export': { whose: 'tenant', how: 'as in the list' },
  'get /v1/receipts/{id}': { whose: 'tenant', how: 'any other is unknown' },
  'get /v1/receipts/{id}/tree': { whose: 'tenant', how: 'any other is unknown, and in no tree' },
  'get /v1/stats': { whose: 'tenant', how: 'computed from its own receipts' },
};

/** Every entry of Skillcell's folder that a service writes. No cell sees any of them, except as verified copies of its own skill. */
export const STORED_OWNERS: Readonly<Record<string, Ownership>> = {
  tenants: { whose: 'tenant', how: 'a folder for each: its approvals and uploads' },
  'audit.db': {
    whose: 'tenant',
    how: 'one chain of the operator; each receipt has the tenant in its caller',
  },
  approvals: { whose: 'operator', how: 'count only for calls of no tenant' },
  policies: { whose: 'operator', how: 'policies that a person trusts' },
  'access.json': { whose: 'operator', how: 'tokens and limits' },
  'console-token': { whose: 'operator', how: 'token of the console' },
  installed: { whose: 'operator', how: 'skills that the operator installed' },
  fetched: { whose: 'operator', how: 'skills that the operator fetched' },
  skills: { whose: 'operator', how: 'permissions that the operator gave to folders' },
  store: {
    whose: 'everyone',
    how: 'by digest: the same bytes are stored once; a call names a skill, never a digest',
  },
  inspected: { whose: 'everyone', how: 'by digest; what a skill declares and imports' },
  bytecode: { whose: 'everyone', how: 'by digest; a cell sees that of its own skill' },
  environments: { whose: 'everyone', how: 'by digest; packages that the operator installed' },
  images: { whose: 'everyone', how: 'by digest; images that the operator built' },
  containers: { whose: 'everyone', how: 'by digest; file systems of images' },
  wasm: { whose: 'everyone', how: 'by digest; plans of components' },
  'js-wasm': { whose: 'everyone', how: 'by digest; engines and prepared scripts' },
  'python-wasm': { whose: 'everyone', how: 'engine' },
  harness: { whose: 'everyone', how: 'code of Skillcell' },
  guest: { whose: 'everyone', how: 'code of Skillcell' },
  node: { whose: 'everyone', how: 'code of Skillcell' },
  launcher: { whose: 'everyone', how: 'code of Skillcell' },
  accepted: { whose: 'operator', how: 'packages that a person accepted' },
  'accepted-skills': { whose: 'operator', how: 'skills that a person accepted' },
  global: { whose: 'operator', how: 'pins of skills for all projects' },
  signers: { whose: 'operator', how: 'who signed the skills that the operator fetched' },
  notices: { whose: 'operator', how: 'which notices were printed' },
  locks: { whose: 'everyone', how: 'empty files that order processes' },
  'prune.lock': { whose: 'everyone', how: 'an empty file that orders processes' },
  users: { whose: 'everyone', how: 'which processes use the folder' },
  run: { whose: 'everyone', how: 'sockets of processes that Skillcell started; cells cannot reach them' },
};
