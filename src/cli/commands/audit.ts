/**
 * `skillcell audit list | show | verify | prune`
 *
 * @module
 */
import { join } from 'node:path';
import {
  GENESIS,
  type ReadLog,
  SkillError,
  type StoredReceipt,
  type Verification,
  defaultHome,
  pruneLog,
  readAuditLog,
} from '../../inside.ts';
import { filterOf, pastTime, type FilterFlags } from '../receipt-filter.ts';
import { assertNoCluster, clusterPlace } from '../open-cluster.ts';
import { readText } from '../read-text.ts';
import type { ClusterFlags } from '../shared-options.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export interface AuditListFlags extends FilterFlags {
  limit: string;
  denied?: boolean;
  json?: boolean;
}

export async function auditList(flags: Partial<AuditListFlags>): Promise<number> {
  const limit = countOf(flags.limit ?? '20');
  using log = openLog();
  const receipts = log?.list({ limit, ...filterOf(flags), deniedOnly: flags.denied ?? false }) ?? [];
  if (flags.json) printResult(receipts);
  else if (receipts.length === 0) printNote(log ? 'No receipts match.' : 'No receipts yet.');
  else printLine(table([['CALL', 'TIME', 'SKILL', 'MODE', 'CODE', 'MS', 'DENIED'], ...receipts.map(row)]));
  return 0;
}

export async function auditShow(id: string, flags: { tree?: boolean; json?: boolean }): Promise<number> {
  using log = openLog();
  const tree = flags.tree ? log?.tree(id) : undefined;
  if (tree && tree.length > 0) {
    if (flags.json) printResult(tree);
    else printLine(table([['CALL', 'SKILL', 'MODE', 'CODE', 'MS', 'DENIED'], ...treeRows(tree)]));
    return 0;
  }
  const found = log?.show(id);
  if (!found) {
    throw new SkillError('usage', `No receipt for the call "${id}"`, {
      fix: 'Run `skillcell audit list` to see the known calls.',
    });
  }
  printResult(found);
  return 0;
}

/** Exits with 1 if the chain is broken, for scripts. */
export async function auditVerify(flags: VerifyFlags): Promise<number> {
  assertNoCluster(flags);
  if (flags.cluster !== undefined) return verifyFleet(flags);
  if (flags.heads !== undefined)
    throw new SkillError('usage', '--heads has no effect without --cluster', {
      fix: 'Pass --head for the log of this machine.',
    });
  using log = openLog();
  const checked = log?.verify(flags.head === undefined ? {} : { rememberedHead: flags.head });
  const verification = checked ?? verifyMissingLog(flags.head);
  const { ok, count, head, brokenAt, reason, pruned } = verification;
  if (flags.json) {
    printResult(verification);
    return ok ? 0 : 1;
  }
  const where = brokenAt === undefined ? 'Broken' : `Broken at receipt ${brokenAt}`;
  printLine(ok ? `${count} receipts, chain intact, head ${head}` : `${where}: ${reason}`);
  if (pruned)
    printLine(
      `${pruned.through_seq} older receipts were pruned; checkpoint ${pruned.hash} of ${pruned.pruned_at}`,
    );
  return ok ? 0 : 1;
}

/** All chains of a cluster, from its stream. */
async function verifyFleet(flags: VerifyFlags): Promise<number> {
  const [{ connectCluster }, { verifyCluster, readHeads }] = await Promise.all([
    import('../../cluster/connect.ts'),
    import('../../cluster/verify.ts'),
  ]);
  const heads = flags.heads === undefined ? {} : readHeads(readText(flags.heads, 'file of heads'));
  const connection = await connectCluster(clusterPlace(flags));
  try {
    const found = await verifyCluster(connection, { heads });
    if (flags.json) printResult(found);
    else {
      for (const problem of found.problems) printLine(problem);
      const chains = Object.keys(found.heads).length;
      printLine(
        `${found.receipts} receipts of ${chains} chains, ${found.begun} marked calls, ${found.running} running`,
      );
      printLine(found.ok ? 'All chains intact' : `${found.problems.length} problems`);
    }
    return found.ok ? 0 : 1;
  } finally {
    await connection.close();
  }
}

interface VerifyFlags extends ClusterFlags {
  head?: string;
  heads?: string;
  json?: boolean;
}

/** Removes old receipts; the checkpoint keeps the rest verifiable. */
export async function auditPrune(flags: { keep: string; json?: boolean }): Promise<number> {
  const pruned = pruneLog(auditFile(), pastTime('--keep', flags.keep));
  if (flags.json) printResult(pruned);
  else if (pruned.checkpoint)
    printLine(
      `Pruned ${pruned.removed} receipts, up to ${pruned.checkpoint.to}; checkpoint ${pruned.checkpoint.hash}`,
    );
  else printLine('No receipt is that old.');
  return 0;
}

/** With a remembered head, a missing log is a deleted one, not an empty one. */
function verifyMissingLog(rememberedHead: string | undefined): Verification {
  const ok = rememberedHead === undefined || rememberedHead === GENESIS;
  return { ok, count: 0, head: GENESIS, ...(ok ? {} : { reason: 'the audit log is missing' }) };
}

/** These commands are read-only: they create no file and do not import receipts that another process left behind. */
export function openLog(): ReadLog | undefined {
  const log = readAuditLog(auditFile());
  if (log && log.leftBehind > 0)
    printNote(
      `${log.leftBehind} receipts of a killed process are not in the log yet. The next call adds them.`,
    );
  return log;
}

function auditFile(): string {
  return join(defaultHome(), 'audit.db');
}

/** Characters of a name that a table shows. */
const MAX_NAME = 201;

/** Each call below the call that made it, in the order in which they began. */
function treeRows(tree: readonly StoredReceipt[]): string[][] {
  const known = new Set(tree.map(({ receipt }) => receipt.call_id));
  const below = Map.groupBy(tree, ({ receipt: { parent } }) =>
    known.has(parent ?? '') ? parent : undefined,
  );
  const rows: string[][] = [];
  const add = (stored: StoredReceipt, indent: string): void => {
    const [id = '', _time, name = '', ...rest] = row(stored);
    rows.push([id, `${indent}${name}`, ...rest]);
    for (const one of below.get(id) ?? []) add(one, `${indent}  `);
  };
  for (const one of below.get(undefined) ?? []) add(one, '');
  return rows;
}

function row({ receipt }: StoredReceipt): string[] {
  const { call_id, started_at, skill, execution, code, limit, usage, denied_count } = receipt;
  const status = limit ? `${code}/${limit}` : code;
  return [
    call_id,
    started_at,
    // No id is longer; what could not be loaded may have any name.
    skill.name.length > MAX_NAME ? `${skill.name.slice(0, MAX_NAME)}…` : skill.name,
    execution?.mode ?? '-',
    status,
    usage.wall_ms.toFixed(1),
    String(denied_count),
  ];
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new SkillError('usage', `--limit "${text}" is not a positive whole number`, {
    fix: 'Pass a number, such as --limit 20.',
  });
}
