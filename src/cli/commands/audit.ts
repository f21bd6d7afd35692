/**
 * `skillcell audit list | show | verify`
 *
 * @module
 */
import { SkillError, type StoredReceipt } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export interface AuditListFlags {
  limit: string;
  skill?: string;
  denied?: boolean;
  json?: boolean;
}

export async function auditList(flags: Partial<AuditListFlags>): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const receipts = runtime.audit.list({
    limit: countOf(flags.limit ?? '20'),
    ...(flags.skill === undefined ? {} : { skill: flags.skill }),
    deniedOnly: flags.denied ?? false,
  });
  if (flags.json) printResult(receipts);
  else if (receipts.length === 0) printNote('No receipts yet.');
  else printLine(table([['CALL', 'TIME', 'SKILL', 'MODE', 'CODE', 'MS', 'DENIED'], ...receipts.map(row)]));
  return 0;
}

export async function auditShow(id: string): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const found = runtime.audit.show(id);
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
  await using runtime = openRuntime({ needsPolicy: false });
  const { ok, count, head, brokenAt, reason } = runtime.audit.verify(
    flags.head === undefined ? {} : { rememberedHead: flags.head },
  );
  printLine(
    ok ? `${count} receipts, chain intact, head ${head}` : `Broken at receipt ${brokenAt}: ${reason}`,
  );
  return ok ? 0 : 1;
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
