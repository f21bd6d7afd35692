/**
 * `skillcell/audit`: reads and verifies the log of receipts without a runtime.
 *
 * @module
 */
export { readAuditLog } from '../audit/log.ts';
export { GENESIS } from '../audit/queries.ts';
export type { AuditLog, ReadLog } from '../audit/log.ts';
export type { AuditReader, StoredReceipt, Verification } from '../audit/queries.ts';
export type { Receipt } from '../audit/receipt.ts';
