/**
 * Receipts that a caller may see. A tenant sees its own, and nothing that depends on those of others, such as positions in
 * the log; an admin sees all. No request scans the whole log: clients page through older receipts.
 *
 * @module
 */
import { type AuditLog, type HostFolders, SkillError, type StoredReceipt } from '../inside.ts';
import { callerPrefix, type Identity } from './access.ts';

/** Maximum number of receipts scanned per request. */
export const MAX_SCANNED = 20_000;

export interface ReceiptFilter {
  limit: number;
  skill?: string | undefined;
  code?: StoredReceipt['receipt']['code'] | undefined;
  deniedOnly?: boolean;
  /** Only receipts before this call id. */
  before?: string | undefined;
  /** Only receipts from this time on. */
  since?: Date;
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

/** Throws `usage` if `before` is not a call that this identity may see. */
export async function listReceipts(
  log: AuditLog,
  identity: Identity,
  filter: ReceiptFilter,
): Promise<FoundReceipts> {
  const { limit, skill, code, deniedOnly = false, since } = filter;
  const beforeSeq = filter.before === undefined ? undefined : seqOf(log, identity, filter.before);
  const within = { ...visibleTo(identity), ...(beforeSeq === undefined ? {} : { beforeSeq }) };
  const [last] = await log.elsewhere.list({ ...within, limit: 1, skip: MAX_SCANNED - 1 });
  const receipts = await log.elsewhere.list({
    ...within,
    limit,
    deniedOnly,
    ...(last === undefined ? {} : { fromSeq: last.seq }),
    ...(skill === undefined ? {} : { skill }),
    ...(code === undefined ? {} : { code }),
    ...(since === undefined ? {} : { since }),
  });
  const older = receipts.length === limit ? receipts.at(-1) : last;
  return older === undefined ? { receipts } : { receipts, older };
}

/** The filter for receipts that an identity may see. */
export function visibleTo({ scopes, tenant }: Identity): { callerPrefix?: string } {
  return scopes.has('admin') ? {} : { callerPrefix: callerPrefix(tenant) };
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
