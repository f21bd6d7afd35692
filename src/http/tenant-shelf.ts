/**
 * The skills that one tenant sees. An id of the operator always means the operator's skill, and a skill of another tenant
 * is as unknown as one that does not exist.
 *
 * @module
 */
import {
  type BundleLocation,
  type Runtime,
  type Skill,
  type Tenant,
  type Uploads,
  nameMatches,
} from '../inside.ts';
import { unknownSkill, type Shelf } from './shelf.ts';

export interface TenantShelfOptions {
  runtime: Runtime;
  shelf: Shelf;
  /** Loads uploaded skills by their folder. */
  uploaded: Shelf;
  uploads: Uploads;
  tenant: Tenant | undefined;
}

export class TenantShelf {
  readonly #options: TenantShelfOptions;

  constructor(options: TenantShelfOptions) {
    this.#options = options;
  }

  list(): BundleLocation[] {
    const { shelf, tenant } = this.#options;
    const offered = shelf.list().filter(({ ref }) => isOffered(ref, tenant));
    return [...offered, ...this.#uploads()].toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
  }

  /** Throws `skill_unavailable` if this tenant has no such skill. */
  locate(name: string): BundleLocation {
    const { shelf, tenant } = this.#options;
    const found = shelf.find(name);
    if (found && isOffered(found.ref, tenant)) return found;
    const own = this.#upload(name);
    if (own) return own;
    throw unknownSkill(name);
  }

  /** Ids of the skills that a pattern covers. Throws `skill_unavailable` if there are none. */
  matching(pattern: string): string[] {
    const ids = this.list().flatMap(({ ref }) => (nameMatches(pattern, ref) ? [ref] : []));
    return ids.length > 0 ? ids : [this.locate(pattern).ref];
  }

  load(location: BundleLocation): Promise<Skill> {
    const { shelf, uploaded } = this.#options;
    return (this.isUpload(location) ? uploaded : shelf).load(location);
  }

  isUpload({ ref, dir }: BundleLocation): boolean {
    return this.#options.shelf.find(ref)?.dir !== dir;
  }

  /** The skill in metrics. Tenants choose the names of their uploads, so these never become labels. */
  labelOf(location: BundleLocation): string {
    return this.isUpload(location) ? 'uploaded' : location.ref;
  }

  /** Like `labelOf`, for a name that may belong to no skill by now. */
  labelOfName(name: string): string {
    try {
      return this.labelOf(this.locate(name));
    } catch {
      return 'unknown';
    }
  }

  #uploads(): BundleLocation[] {
    const { tenant, uploads } = this.#options;
    if (!tenant) return [];
    return uploads.list(tenant.context.name).flatMap(({ name }) => this.#upload(name) ?? []);
  }

  /** Not if the operator has a skill of this id by now, offered or not. */
  #upload(name: string): BundleLocation | undefined {
    const { tenant, uploads, shelf } = this.#options;
    const found = tenant && uploads.find(tenant.context.name, name);
    if (!found || shelf.isTaken(name)) return undefined;
    return uploads.locate(tenant.context.name, found);
  }
}

function isOffered(ref: string, tenant: Tenant | undefined): boolean {
  return tenant?.skills.every((patterns) => patterns.some((pattern) => nameMatches(pattern, ref))) ?? true;
}
