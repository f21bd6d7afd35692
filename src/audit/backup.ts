/**
 * Backup of a home while services use it: the receipts as SQLite sees them at one moment, and the decisions of people:
 * approvals, trusted policies, overlays, installed skills, and the access file on request. Caches are left out; they are made again.
 *
 * @module
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { SkillError } from '../errors.ts';
import { publish } from '../load/publish.ts';
import { readAuditLog } from './log.ts';
import { GENESIS, type Verification } from './queries.ts';

const LOG = 'audit.db';
const ACCESS = 'access.json';
const FOLDERS = [
  'approvals',
  'policies',
  'skills',
  'installed',
  'global',
  'accepted-skills',
  'signers',
] as const;
/** Marks a finished backup. */
const MARK = 'skillcell-backup.json';
const VERSION = 1;

export interface BackupOptions {
  home: string;
  /** Includes the access file, whose digests of tokens are then in the backup. */
  tokens?: boolean | undefined;
}

/** Writes a new folder, which appears only when it is complete. Returns the verification of its receipts. */
export async function backupHome(
  target: string,
  { home, tokens = false }: BackupOptions,
): Promise<Verification> {
  if (existsSync(target)) throw exists(target);
  let checked: Verification | undefined;
  await publish(target, async (draft) => {
    mkdirSync(draft, { mode: 0o700 });
    if (existsSync(join(home, LOG))) await copyLog(home, draft);
    for (const folder of FOLDERS) copyIfThere(join(home, folder), join(draft, folder));
    if (tokens) copyIfThere(join(home, ACCESS), join(draft, ACCESS));
    checked = verifyLog(draft);
    const mark = { version: VERSION, made_at: new Date().toISOString(), tokens, head: checked.head };
    writeFileSync(join(draft, MARK), `${JSON.stringify(mark, null, 2)}\n`, { mode: 0o600 });
  });
  return checked ?? verifyLog(target);
}

/** Restores into a home that has none of the parts of a backup. Nothing is overwritten. */
export function restoreHome(source: string, home: string): Verification {
  const { head } = readMark(source);
  const parts = [LOG, ...FOLDERS, ACCESS].filter((part) => existsSync(join(source, part)));
  const taken = [LOG, ...FOLDERS, ACCESS].find((part) => isInUse(join(home, part)));
  if (taken !== undefined) throw notEmpty(home, taken);
  const checked = verifyLog(source);
  if (!checked.ok || checked.head !== head)
    throw damaged(source, checked.reason ?? 'its head is not the recorded one');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  // The log last: a restore that was interrupted has no receipts and is refused by no one.
  for (const part of parts.toReversed()) copyIfThere(join(source, part), join(home, part));
  return checked;
}

async function copyLog(home: string, draft: string): Promise<void> {
  const database = new DatabaseSync(join(home, LOG), { readOnly: true });
  try {
    await backup(database, join(draft, LOG));
    chmodSync(join(draft, LOG), 0o600);
  } finally {
    database.close();
  }
}

function copyIfThere(from: string, to: string): void {
  if (existsSync(from))
    cpSync(from, to, { recursive: true, errorOnExist: true, force: false, verbatimSymlinks: true });
}

function isInUse(path: string): boolean {
  if (!existsSync(path)) return false;
  return path.endsWith('.db') || path.endsWith('.json') || readdirSync(path).length > 0;
}

function verifyLog(folder: string): Verification {
  using log = readAuditLog(join(folder, LOG));
  return log?.verify() ?? { ok: true, count: 0, head: GENESIS };
}

function readMark(source: string): { head: string } {
  try {
    const mark = JSON.parse(readFileSync(join(source, MARK), 'utf8')) as { version: number; head: string };
    if (mark.version === VERSION) return mark;
  } catch {
    // The same answer as for another version.
  }
  throw new SkillError('usage', `"${source}" is not a backup of this version of Skillcell`, {
    fix: 'Pass a folder that `skillcell backup` wrote.',
  });
}

function exists(target: string): SkillError {
  return new SkillError('usage', `"${target}" exists already`, {
    fix: 'Pass the path of a new folder; a backup never overwrites anything.',
  });
}

function notEmpty(home: string, taken: string): SkillError {
  return new SkillError('usage', `Refused to restore into "${home}": it already has "${taken}"`, {
    fix: 'Set SKILLCELL_HOME to a new folder, restore there, and then use that folder.',
  });
}

function damaged(source: string, reason: string): SkillError {
  return new SkillError('usage', `The receipts in the backup "${source}" are damaged: ${reason}`, {
    fix: 'Restore another backup, or find out who changed this one.',
  });
}
