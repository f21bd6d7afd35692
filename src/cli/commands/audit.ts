/**
 * `skillcell audit list | show | verify`
 *
 * @module
 */
import { join } from 'node:path';
import {
  defaultHome,
  GENESIS,
  readAuditLog,
  SkillError,
  type ReadLog,
  type StoredReceipt,
  type Verification,
} from '../../index.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export interface AuditListFlags {
  limit: string;
  skill?: string;
  denied?: boolean;
  json?: boolean;
}

export async function auditList(flags: Partial<AuditListFlags>): Promise<number> {
  const limit = countOf(flags.limit ?? '20');
  using log = openLog();
  const receipts =
    log?.list({
      limit,
      ...(flags.skill === undefined ? {} : { skill: flags.skill }),
      deniedOnly: flags.denied ?? false,
    }) ?? [];
  if (flags.json) printResult(receipts);
  else if (receipts.length === 0) printNote('No receipts yet.');
  else printLine(table([['CALL', 'TIME', 'SKILL', 'MODE', 'CODE', 'MS', 'DENIED'], ...receipts.map(row)]));
  return 0;
}

export async function auditShow(id: string): Promise<number> {
  using log = openLog();
  const found = log?.show(id);
  if (!found) {
    throw new SkillError('usage', `There is no receipt of a call "${id}"`, {
      fix: 'See `skillcell audit list`.',
    });
  }
  printResult(found);
  return 0;
}

/** Exit code 1 when the chain is broken: scripts watch it. */
export async function auditVerify(flags: { head?: string }): Promise<number> {
  using log = openLog();
  const checked = log?.verify(flags.head === undefined ? {} : { rememberedHead: flags.head });
  const { ok, count, head, brokenAt, reason } = checked ?? noLog(flags.head);
  const where = brokenAt === undefined ? 'Broken' : `Broken at receipt ${brokenAt}`;
  printLine(ok ? `${count} receipts, chain intact, head ${head}` : `${where}: ${reason}`);
  return ok ? 0 : 1;
}

/** A log that was deleted is no empty one to whoever remembers its head. */
function noLog(rememberedHead: string | undefined): Verification {
  const ok = rememberedHead === undefined || rememberedHead === GENESIS;
  return { ok, count: 0, head: GENESIS, ...(ok ? {} : { reason: 'there is no audit log' }) };
}

/** These commands only read: no file is made, and nothing is brought in that another process left. */
function openLog(): ReadLog | undefined {
  const log = readAuditLog(join(defaultHome(), 'audit.db'));
  if (log && log.leftBehind > 0)
    printNote(
      `${log.leftBehind} receipts of a process that was killed are not in the log yet. The next call adds them.`,
    );
  return log;
}

function row({ receipt }: StoredReceipt): string[] {
  const { call_id, started_at, skill, execution, code, limit, usage, denied_count } = receipt;
  const ended = limit ? `${code}/${limit}` : code;
  return [
    call_id,
    started_at,
    skill.name,
    execution?.mode ?? '-',
    ended,
    usage.wall_ms.toFixed(1),
    String(denied_count),
  ];
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new SkillError('usage', `--limit "${text}" is no positive number`, {
    fix: 'Give a number such as 20.',
  });
}
