/**
 * Trees of calls in the log: `parent`, `root` and `depth` of receipts, and logs from before there were any.
 */
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { openAuditLog, readAuditLog } from '../../src/audit/log.ts';
import { makeReceipt } from '../../src/audit/receipt.ts';
import { lineageBelow } from '../../src/calls/lineage.ts';
import { folderPerTest } from '../test-folder.ts';
import { EXAMPLE_CONTEXT, exampleReceipt, exampleSuccess } from './example-receipt.ts';

const folder = folderPerTest();
let file: string;
beforeEach(() => {
  file = folder.at('audit.db');
});

/** Two trees, whose receipts are written in the order in which calls end: children first. */
function fill(): void {
  const log = openAuditLog({ file });
  for (const [call_id, parent, root, depth] of [
    ['C', 'B', 'A', 2],
    ['B', 'A', 'A', 1],
    ['Y', 'X', 'X', 1],
    ['D', 'A', 'A', 1],
  ] as const)
    log.append(exampleReceipt({ call_id, parent, root, depth }));
  for (const call_id of ['A', 'X', 'alone']) log.append(exampleReceipt({ call_id }));
  log.close();
}

const idsOf = (found: readonly { receipt: { call_id: string } }[] | undefined): string[] =>
  (found ?? []).map(({ receipt }) => receipt.call_id);

describe('a tree of calls', () => {
  test('is found from each of its calls, in the order in which they began', () => {
    fill();
    using log = readAuditLog(file);
    for (const id of ['A', 'B', 'C', 'D']) expect(idsOf(log?.tree(id)), id).toEqual(['A', 'B', 'C', 'D']);
    expect(idsOf(log?.tree('Y'))).toEqual(['X', 'Y']);
    expect(idsOf(log?.tree('alone'))).toEqual(['alone']);
    expect(log?.tree('unknown')).toEqual([]);
  });

  test('is found without its root, which may have been pruned or may still be running', () => {
    const log = openAuditLog({ file });
    log.append(exampleReceipt({ call_id: 'B', parent: 'A', root: 'A', depth: 1 }));
    expect(idsOf(log.tree('A'))).toEqual(['B']);
    expect(idsOf(log.tree('B'))).toEqual(['B']);
    log.close();
  });

  test('uses an index, so that other receipts are not read', () => {
    fill();
    const database = new DatabaseSync(file);
    const plan = database
      .prepare(
        "EXPLAIN QUERY PLAN SELECT seq FROM receipt WHERE body ->> '$.root' = 'A' AND body ->> '$.root' IS NOT NULL",
      )
      .all();
    database.close();
    expect(JSON.stringify(plan)).toContain('receipt_root');
  });

  test('is part of the chain: a receipt moved to another tree breaks it', () => {
    fill();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE receipt SET body = json_set(body, '$.root', 'X') WHERE call_id = 'D'`);
    database.close();
    using log = readAuditLog(file);
    expect(log?.verify()).toMatchObject({ ok: false, brokenAt: 4, reason: 'its content was changed' });
  });
});

describe('a log from before there were trees', () => {
  test('still verifies, keeps its receipts and gets the index when it is opened for writing', () => {
    const before = openAuditLog({ file });
    before.append(exampleReceipt({ call_id: 'old' }));
    const { head } = before.verify();
    before.close();
    const database = new DatabaseSync(file);
    database.exec('DROP INDEX receipt_root');
    database.close();
    {
      using log = readAuditLog(file);
      expect(idsOf(log?.tree('old'))).toEqual(['old']);
      expect(log?.verify({ rememberedHead: head })).toMatchObject({ ok: true, count: 1 });
    }
    const after = openAuditLog({ file });
    after.append(exampleReceipt({ call_id: 'new', parent: 'old', root: 'old', depth: 1 }));
    expect(after.verify({ rememberedHead: head })).toMatchObject({ ok: true, count: 2 });
    expect(idsOf(after.tree('new'))).toEqual(['old', 'new']);
    after.close();
    const opened = new DatabaseSync(file);
    const indexes = opened.prepare("SELECT name FROM sqlite_master WHERE type = 'index'").all();
    opened.close();
    expect(JSON.stringify(indexes)).toContain('receipt_root');
  });
});

describe('the receipt of a call', () => {
  test('names its parent and root only if another call made it', () => {
    const [alone, inner] = [undefined, { parent: 'P', root: 'R', depth: 2 }].map((lineage) =>
      makeReceipt(exampleSuccess(), { ...EXAMPLE_CONTEXT, lineage }),
    );
    expect(Object.keys(alone ?? {})).not.toEqual(expect.arrayContaining(['depth']));
    expect(inner).toMatchObject({ parent: 'P', root: 'R', depth: 2 });
  });

  test('gets its lineage from the call above it', () => {
    const first = lineageBelow({ id: 'A' });
    expect(first).toEqual({ parent: 'A', root: 'A', depth: 1 });
    expect(lineageBelow({ id: 'B', lineage: first })).toEqual({ parent: 'B', root: 'A', depth: 2 });
  });
});
