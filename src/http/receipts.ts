/**
 * Receipts that a caller may see. A tenant sees its own, and nothing that depends on those of others, such as positions in
 * the log; an admin sees all. No request scans the whole log: clients page through older receipts.
 *
 * @module
 */
import {
  type AuditLog,
  type HostFolders,
  type ListOptions,
  type Mode,
  SkillError,
  type StoredReceipt,
} from '../inside.ts';
import { callerPrefix, type Identity } from './access.ts';
import { Refusal } from './answers.ts';
import type { FilterQuery } from './request-schemas.ts';

/** Maximum number of receipts scanned per request. */
export const MAX_SCANNED = 20_000;

/** Maximum number of receipts in one answer of the export. */
export const MAX_EXPORTED = 10_000;
const EXPORT_PAGE = 500;

export interface ReceiptFilter {
  skill?: string | undefined;
  code?: StoredReceipt['receipt']['code'] | undefined;
  deniedOnly?: boolean;
  caller?: string | undefined;
  tenant?: string | undefined;
  mode?: Mode | undefined;
  /** Only receipts before this call id. */
  before?: string | undefined;
  /** Only calls that began at this time or later. */
  since?: Date | undefined;
  /** Only calls that began before this time. */
  until?: Date | undefined;
}

export interface FoundReceipts {
  receipts: StoredReceipt[];
  /** Set if there may be older receipts before this one. */
  older?: StoredReceipt;
}

/**
 * A receipt without its place in the log: the position reveals how many calls others make, and the hash, which covers the
 * hash before it, whether there was any between two of one's own.
 */
export type VisibleReceipt = Partial<StoredReceipt> & Pick<StoredReceipt, 'receipt'>;

export function filterOf(query: FilterQuery): ReceiptFilter {
  const { denied, since, until, ...rest } = query;
  return { ...rest, deniedOnly: denied === 'true', since: dateOf(since), until: dateOf(until) };
}

/** Throws `usage` if `before` is not a call that this identity may see. */
export async function listReceipts(
  log: AuditLog,
  identity: Identity,
  { limit, ...filter }: ReceiptFilter & { limit: number },
): Promise<FoundReceipts> {
  const { options, last } = await boundedSearch(log, identity, filter);
  const receipts = await log.elsewhere.list({ ...options, limit });
  const older = receipts.length === limit ? receipts.at(-1) : last;
  return older === undefined ? { receipts } : { receipts, older };
}

export interface ReceiptExport {
  /** Newest first. */
  pages: AsyncGenerator<StoredReceipt[]>;
  /** Set if there may be older receipts before this one. */
  older?: StoredReceipt;
}

/** The matching receipts, page by page, so that many of them never are in memory at once. */
export async function exportReceipts(
  log: AuditLog,
  identity: Identity,
  filter: ReceiptFilter,
): Promise<ReceiptExport> {
  const { options, last } = await boundedSearch(log, identity, filter);
  const [final] = await log.elsewhere.list({ ...options, limit: 1, skip: MAX_EXPORTED - 1 });
  const older = final ?? last;
  const bounded = final ? { ...options, fromSeq: final.seq } : options;
  return { pages: pagesOf(log, bounded), ...(older && { older }) };
}

async function* pagesOf(log: AuditLog, options: ListOptions): AsyncGenerator<StoredReceipt[]> {
  let page = await log.elsewhere.list({ ...options, limit: EXPORT_PAGE });
  while (page.length > 0) {
    yield page;
    const beforeSeq = page.at(-1)?.seq ?? 0;
    if (page.length < EXPORT_PAGE) return;
    page = await log.elsewhere.list({ ...options, beforeSeq, limit: EXPORT_PAGE });
  }
}

interface BoundedSearch {
  options: ListOptions;
  /** The oldest receipt that is scanned; undefined if all are. */
  last: StoredReceipt | undefined;
}

async function boundedSearch(
  log: AuditLog,
  identity: Identity,
  filter: ReceiptFilter,
): Promise<BoundedSearch> {
  const { skill, code, deniedOnly = false, caller, tenant, mode, since, until, before } = filter;
  const beforeSeq = before === undefined ? undefined : seqOf(log, identity, before);
  const within = definedOf({ ...visibleTo(identity, tenant), beforeSeq, since });
  const [last] = await log.elsewhere.list({ ...within, limit: 1, skip: MAX_SCANNED - 1 });
  const matching = definedOf({ skill, code, caller, mode, until, fromSeq: last?.seq });
  return { options: { ...within, ...matching, deniedOnly }, last };
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function definedOf<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The filter for receipts that an identity may see, or for those of one tenant. */
export function visibleTo(identity: Identity, tenant?: string): { callerPrefix?: string } {
  assertMaySee(identity, tenant);
  const whose = tenant ?? (identity.scopes.has('admin') ? undefined : identity.tenant);
  return whose === undefined ? {} : { callerPrefix: callerPrefix(whose) };
}

/** The same answer for tenants that exist and tenants that do not. */
export function assertMaySee(identity: Identity, tenant: string | undefined): void {
  if (tenant === undefined || tenant === identity.tenant || identity.scopes.has('admin')) return;
  throw new Refusal(403, {
    code: 'untrusted',
    message: `The token "${identity.token}" sees only calls of the tenant "${identity.tenant}"`,
    fix: 'Omit `tenant`, or use a token with the scope admin.',
    detail: { needs: ['admin'], has: [...identity.scopes] },
  });
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function seqOf(log: AuditLog, identity: Identity, id: string): number {
  const found = findReceipt(log, identity, id);
  if (found) return found.seq;
  throw new SkillError('usage', `before=${JSON.stringify(id.slice(0, 40))}: no receipt for this call`, {
    fix: 'Use the `older` of an earlier answer, or omit `before`.',
  });
}

/** Also undefined for a receipt of another tenant, so that its existence is not revealed. */
export function findReceipt(log: AuditLog, identity: Identity, id: string): StoredReceipt | undefined {
  const found = log.show(id);
  return found && isTheirs(found, identity) ? found : undefined;
}

/** Receipts of one answer with a tree. */
const MAX_TREE = 1000;

/** A call and all that belong to its tree, in the order in which they began. Calls of others are never in it. */
export function treeOfReceipts(log: AuditLog, identity: Identity, id: string): StoredReceipt[] {
  return findReceipt(log, identity, id)
    ? log.tree(id, MAX_TREE).filter((one) => isTheirs(one, identity))
    : [];
}

/** Removes the place in the log and the folders of this machine, except for an admin, who can verify the chain. */
export function visibleReceipt(
  stored: StoredReceipt,
  identity: Identity,
  folders: HostFolders,
): VisibleReceipt {
  if (identity.scopes.has('admin')) return stored;
  const { receipt } = stored;
  const { code, message, used, denied } = receipt;
  const visibleMessage =
    message === undefined || code === 'ok'
      ? {}
      : { message: folders.error({ code, message, fix: '', detail: {} }).message };
  const events = { used: folders.within(used), denied: folders.within(denied) };
  return { receipt: { ...receipt, ...visibleMessage, ...events } };
}

function isTheirs({ receipt }: StoredReceipt, { scopes, tenant }: Identity): boolean {
  return scopes.has('admin') || receipt.caller.startsWith(callerPrefix(tenant));
}
