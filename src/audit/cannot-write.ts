/**
 * The error of a call that is refused because its receipt cannot be written.
 *
 * @module
 */
import { SkillError } from '../errors.ts';

const NO_ROOM = 'Free space on the file system of the Skillcell home';
const READ_ONLY = 'Make the Skillcell home writable for this user';
const TOO_MANY = 'Raise the limit of open files (`ulimit -n`), or run fewer calls at a time';
const OTHER = 'Check the disk of the Skillcell home';

/** The log's path no longer leads to the file that was opened. */
export const LOG_GONE = 'the log was removed';
export const LOG_REPLACED = 'the log was replaced';
const PUT_BACK = 'Move the audit log back to its place, or restart Skillcell to begin a new one';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM,
  SQLITE_FULL: NO_ROOM,
  EROFS: READ_ONLY,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  SQLITE_READONLY: READ_ONLY,
  EMFILE: TOO_MANY,
  ENFILE: TOO_MANY,
  [LOG_GONE]: PUT_BACK,
  [LOG_REPLACED]: PUT_BACK,
};

/** By the low byte of the error code. */
const SQLITE_NAMES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
};

/** Reasons that may disappear by themselves while the file is intact. */
const TRANSIENT = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'SQLITE_FULL', 'SQLITE_IOERR']);

export function isTransient(cause: unknown): boolean {
  return TRANSIENT.has(reasonOf(cause));
}

/** The message names no path, because tenants of a service can read it. */
export function cannotWrite(cause: unknown): SkillError {
  if (cause instanceof SkillError) return cause;
  const reason = reasonOf(cause);
  return new SkillError(
    'skill_unavailable',
    `Receipts cannot be written (${reason}), so no call is accepted`,
    {
      fix: `${REMEDIES[reason] ?? OTHER}. Calls are accepted again as soon as a receipt can be written.`,
      detail: { receipts: reason },
      cause,
    },
  );
}

function reasonOf(cause: unknown): string {
  const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return SQLITE_NAMES[errcode & 0xff] ?? `SQLite error ${errcode}`;
  return typeof code === 'string' ? code : 'unexpected error';
}
