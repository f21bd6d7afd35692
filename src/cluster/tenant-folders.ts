/**
 * The folders of a worker that a tenant must not learn of: those of the machine, and those of other tenants.
 *
 * @module
 */
import { HostFolders } from '../calls/host-folders.ts';
import { hiddenFrom, type TenantContext } from '../policy/tenant-context.ts';
import type { Runtime } from '../runtime.ts';

export interface TenantFoldersOptions {
  runtime: Pick<Runtime, 'home' | 'registries'>;
  workspace?: string | undefined;
  contextOf?: ((tenant: string) => TenantContext) | undefined;
}

export class TenantFolders {
  readonly #options: TenantFoldersOptions;
  readonly #shared: HostFolders;
  /** By the object, which is replaced when the tenant's settings change. */
  readonly #known = new WeakMap<TenantContext, HostFolders>();

  constructor(options: TenantFoldersOptions) {
    this.#options = options;
    const { runtime, workspace } = options;
    this.#shared = new HostFolders({ home: runtime.home, registries: runtime.registries, workspace });
  }

  of(tenant: string): HostFolders {
    const context = this.#contextOf(tenant);
    if (!context) return this.#shared;
    const known = this.#known.get(context);
    if (known) return known;
    const { home, registries } = this.#options.runtime;
    const { workspace } = context;
    const made = new HostFolders({ home, registries, workspace, hidden: hiddenFrom(context) });
    this.#known.set(context, made);
    return made;
  }

  /** A tenant that was removed in the meantime gets the refusal as its outcome. */
  #contextOf(tenant: string): TenantContext | undefined {
    try {
      return this.#options.contextOf?.(tenant);
    } catch {
      return undefined;
    }
  }
}
