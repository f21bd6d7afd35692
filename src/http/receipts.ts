/**
 * Receipts as a tenant may see them: its own. An admin sees all. No question makes the service look through the whole
 * log at once, because calls wait meanwhile: whoever wants to see more asks for what is older.
 *
 * @module
 */
import type { AuditLog, HostFolders, StoredReceipt } from '../index.ts';
import { callerPrefix, type Identity } from './access.ts';

/** So many receipts are looked at for one answer. */
export const LOOKED_AT = 20_000;

export interface ReceiptFilter {
  limit: number;
  skill?: string | undefined;
  code?: StoredReceipt['receipt']['code'] | undefined;
  deniedOnly?: boolean;
  /** Before this number. */
  before?: number | undefined;
  /** Not before this time. */
  since?: Date;
}

export interface FoundReceipts {
  receipts: StoredReceipt[];
  /** There may be more before this number. */
  older?: number;
}

/** Asked of a worker thread: the receipts of others have to be looked at to be left out. */
export async function listReceipts(
  log: AuditLog,
  identity: Identity,
  filter: ReceiptFilter,
): Promise<FoundReceipts> {
  const { limit, skill, code, deniedOnly = false, since } = filter;
  const before = filter.before ?? (log.list({ limit: 1 })[0]?.seq ?? 0) + 1;
  const fromSeq = Math.max(1, before - LOOKED_AT);
  const receipts = await log.elsewhere.list({
    limit,
    deniedOnly,
    beforeSeq: before,
    fromSeq,
    ...(skill === undefined ? {} : { skill }),
    ...(code === undefined ? {} : { code }),
    ...(since === undefined ? {} : { since }),
    ...(identity.scopes.has('admin') ? {} : { callerPrefix: callerPrefix(identity.tenant) }),
  });
  const oldest = receipts.length === limit ? (receipts.at(-1)?.seq ?? fromSeq) : fromSeq;
  return oldest > 1 ? { receipts, older: oldest } : { receipts };
}

/** Undefined also for a receipt of another tenant: it is none of their business that it exists. */
export function findReceipt(log: AuditLog, identity: Identity, id: string): StoredReceipt | undefined {
  const found = log.show(id);
  return found && isTheirs(found, identity) ? found : undefined;
}

/** Only an admin, who can check the chain, gets the folders of this machine with it. */
export function shownReceipt(stored: StoredReceipt, identity: Identity, folders: HostFolders): StoredReceipt {
  if (identity.scopes.has('admin')) return stored;
  const { code, message, used, denied } = stored.receipt;
  const told =
    message === undefined || code === 'ok'
      ? {}
      : { message: folders.error({ code, message, fix: '', detail: {} }).message };
  const events = { used: folders.within(used), denied: folders.within(denied) };
  return { ...stored, receipt: { ...stored.receipt, ...told, ...events } };
}

function isTheirs({ receipt }: StoredReceipt, { scopes, tenant }: Identity): boolean {
  return scopes.has('admin') || receipt.caller.startsWith(callerPrefix(tenant));
}
