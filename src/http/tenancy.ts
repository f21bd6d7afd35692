/**
 * What belongs to the tenant of a request: its settings, its skills, its limits, and the folders that it must not learn of.
 * Without a file of tenants, all tenants share what the operator gave the service.
 *
 * @module
 */
import {
  HostFolders,
  type LiveTenants,
  type Runtime,
  SkillError,
  type Tenant,
  type TenantContext,
  type TenantLimits,
  Uploads,
  hiddenFrom,
  lowerLimits,
} from '../inside.ts';
import type { Access, Identity } from './access.ts';
import { limitsOf } from './limits.ts';
import { ServiceMetrics } from './service-metrics.ts';
import { Shelf } from './shelf.ts';
import { TenantShelf } from './tenant-shelf.ts';

export interface TenancyOptions {
  runtime: Runtime;
  tenants: LiveTenants | undefined;
  access: () => Access;
  /** The operator's skills. */
  shelf: Shelf;
  /** For everyone without a tenant of the file. */
  folders: HostFolders;
}

export class Tenancy {
  readonly uploads: Uploads;
  readonly #options: TenancyOptions;
  readonly #folders = new WeakMap<TenantContext, HostFolders>();
  /** Uploaded skills, loaded once; a tenant's shelf finds only its own here. */
  readonly #uploaded: Shelf;
  /** Only of tenants of the file, so that there are never many. */
  readonly #metrics = new Map<string, ServiceMetrics>();

  constructor(options: TenancyOptions) {
    this.#options = options;
    this.uploads = new Uploads(options.runtime);
    this.#uploaded = new Shelf(options.runtime, 'by folder');
  }

  /** True if tenants share nothing. */
  get isOn(): boolean {
    return this.#options.tenants !== undefined;
  }

  /** The settings of a request's tenant; undefined for operators, and if tenants share everything. */
  of({ tenant, scopes }: Identity): Tenant | undefined {
    const { tenants } = this.#options;
    const found = tenants?.find(tenant);
    if (found || !tenants || scopes.has('admin')) return found;
    throw gone();
  }

  /** The tenant whose metrics a request may see; undefined for those of all. */
  metricsTenant(identity: Identity): Tenant | undefined {
    const isOperator = identity.scopes.has('admin') || this.#options.tenants?.isOperator(identity.tenant);
    return isOperator ? undefined : this.of(identity);
  }

  /** A tenant that an admin names. */
  named(name: string): Tenant {
    const found = this.#options.tenants?.find(name);
    if (found) return found;
    throw new SkillError('usage', `Unknown tenant ${JSON.stringify(name.slice(0, 100))}`, {
      fix: 'Name a tenant of the file that the service was started with (--tenants FILE).',
    });
  }

  /** The skills that this tenant sees: those that the operator offers to it, and its own uploads. */
  shelfOf(tenant: Tenant | undefined): TenantShelf {
    const { runtime, shelf } = this.#options;
    return new TenantShelf({ runtime, shelf, uploaded: this.#uploaded, uploads: this.uploads, tenant });
  }

  foldersOf(tenant: Tenant | undefined): HostFolders {
    if (!tenant) return this.#options.folders;
    const { context } = tenant;
    const known = this.#folders.get(context);
    if (known) return known;
    const { home, registries } = this.#options.runtime;
    const made = new HostFolders({
      home,
      registries,
      workspace: context.workspace,
      hidden: hiddenFrom(context),
    });
    this.#folders.set(context, made);
    return made;
  }

  /** Of the access file and of the file of tenants, the lower of each. */
  limitsOf(tenant: string): TenantLimits {
    const ofAccess = limitsOf(this.#options.access().rules.tenants, tenant);
    const ofTenant = this.#options.tenants?.find(tenant)?.limits;
    return ofTenant ? lowerLimits(ofAccess, ofTenant) : ofAccess;
  }

  /** Counts what a tenant of the file may see of itself. */
  metricsOf({ context: { name } }: Tenant): ServiceMetrics {
    const known = this.#metrics.get(name);
    if (known) return known;
    const made = new ServiceMetrics();
    this.#metrics.set(name, made);
    return made;
  }
}

/** The operator took the tenant out of its file. */
export function gone(): SkillError {
  return new SkillError('untrusted', 'The tenant of this token is not served any more', {
    fix: 'Ask the operator.',
  });
}
