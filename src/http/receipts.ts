/**
 * Receipts as a tenant may see them: its own. An admin sees all.
 *
 * @module
 */
import type { AuditLog, StoredReceipt } from '../index.ts';
import { callerPrefix, type Identity } from './access.ts';

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

export function listReceipts(log: AuditLog, identity: Identity, filter: ReceiptFilter): StoredReceipt[] {
  const { limit, skill, code, deniedOnly = false, before, since } = filter;
  return log.list({
    limit,
    deniedOnly,
    ...(skill === undefined ? {} : { skill }),
    ...(code === undefined ? {} : { code }),
    ...(before === undefined ? {} : { beforeSeq: before }),
    ...(since === undefined ? {} : { since }),
    ...(identity.scopes.has('admin') ? {} : { callerPrefix: callerPrefix(identity.tenant) }),
  });
}

/** Undefined also for a receipt of another tenant: it is none of their business that it exists. */
export function findReceipt(log: AuditLog, identity: Identity, id: string): StoredReceipt | undefined {
  const found = log.show(id);
  return found && isTheirs(found, identity) ? found : undefined;
}

function isTheirs({ receipt }: StoredReceipt, { scopes, tenant }: Identity): boolean {
  return scopes.has('admin') || receipt.caller.startsWith(callerPrefix(tenant));
}
