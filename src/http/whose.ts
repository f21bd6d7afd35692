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

const tenant = (how: string): Ownership => ({ whose: 'tenant', how });
const operator = (how: string): Ownership => ({ whose: 'operator', how });
const everyone = (how: string): Ownership => ({ whose: 'everyone', how });

/** Every route, by method and path. */
export const ROUTE_OWNERS: Readonly<Record<string, Ownership>> = {
  'get /': everyone('files of the console'),
  'get /ui/{name}': everyone('files of the console'),
  'get /openapi.json': everyone('generated from the code'),
  'get /healthz': everyone('state of the process'),
  'get /readyz': everyone('state of the service, and the digest of the operator policy'),
  'get /metrics': tenant('a tenant gets counters of its own calls; operators get all'),
  'get /v1/me': tenant('what its token says'),
  'get /v1/machine': everyone('modes of the machine'),
  'get /v1/skills': tenant('offered skills, its own uploads, its own approvals'),
  'put /v1/skills': tenant('into the quarantine of the tenant'),
  'get /v1/skills/{name}': tenant('as in the list; any other is unknown'),
  'delete /v1/skills/{name}': tenant('its own uploads; any other is unknown'),
  'post /v1/skills/{name}/execute': tenant('with workspace, secrets, policy and approvals of the tenant'),
  'post /v1/programs': tenant('calls only skills that the tenant sees, each as a call of the tenant'),
  'put /v1/skills/{name}/approval': operator('scope admin'),
  'delete /v1/skills/{name}/approval': operator('scope admin'),
  'get /v1/calls': tenant('by the caller in the receipt and in the list of running calls'),
  'get /v1/calls/{id}': tenant('any other is unknown'),
  'get /v1/calls/{id}/events': tenant('any other is not running; streams are counted per tenant'),
  'delete /v1/calls/{id}': tenant('any other is not running'),
  'get /v1/receipts': tenant('without position and hash, which depend on others'),
  'get /v1/receipts/verify': operator('scope admin'),
  'get /v1/receipts/export': tenant('as in the list'),
  'get /v1/receipts/{id}': tenant('any other is unknown'),
  'get /v1/receipts/{id}/tree': tenant('any other is unknown, and in no tree'),
  'get /v1/stats': tenant('computed from its own receipts'),
};

/** Every entry of Skillcell's folder that a service writes. No cell sees any of them, except as verified copies of its own skill. */
export const STORED_OWNERS: Readonly<Record<string, Ownership>> = {
  tenants: tenant('a folder for each: its approvals and uploads'),
  'audit.db': tenant('one chain of the operator; each receipt has the tenant in its caller'),
  approvals: operator('count only for calls of no tenant'),
  policies: operator('policies that a person trusts'),
  'access.json': operator('tokens and limits'),
  'console-token': operator('token of the console'),
  installed: operator('skills that the operator installed'),
  fetched: operator('skills that the operator fetched'),
  skills: operator('permissions that the operator gave to folders'),
  store: everyone('by digest: the same bytes are stored once; a call names a skill, never a digest'),
  cluster: everyone(
    'by digest; skills that arrived from the cluster, read only by a call that names the same digest',
  ),
  inspected: everyone('by digest; what a skill declares and imports'),
  bytecode: everyone('by digest; a cell sees that of its own skill'),
  environments: everyone('by digest; packages that the operator installed'),
  images: everyone('by digest; images that the operator built'),
  containers: everyone('by digest; file systems of images'),
  wasm: everyone('by digest; plans of components'),
  'js-wasm': everyone('by digest; engines and prepared scripts'),
  'python-wasm': everyone('engine'),
  harness: everyone('code of Skillcell'),
  guest: everyone('code of Skillcell'),
  node: everyone('code of Skillcell'),
  launcher: everyone('code of Skillcell'),
  probes: everyone('that a jail opened here'),
  accepted: operator('packages that a person accepted'),
  'accepted-skills': operator('skills that a person accepted'),
  global: operator('pins of skills for all projects'),
  signers: operator('who signed the skills that the operator fetched'),
  notices: operator('which notices were printed'),
  locks: everyone('empty files that order processes'),
  'prune.lock': everyone('an empty file that orders processes'),
  users: everyone('which processes use the folder'),
  run: everyone('sockets of processes that Skillcell started; cells cannot reach them'),
};
