/**
 * `skillcell/http`: the HTTP service and its console over a runtime.
 *
 * @module
 */
export { startService } from './server.ts';
export type { ListenOptions, RunningService } from './server.ts';
export type { ServiceOptions } from './service.ts';
export { LiveTenants } from '../inside.ts';
export type { Issuer, LiveTenantsOptions, Tenant, TenantLimits, UploadLimits } from '../inside.ts';
export { addToken, makeToken } from './access-file.ts';
export type { NewToken, Scope, TokenEntry } from './access-file.ts';
