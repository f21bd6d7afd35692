/**
 * Pruning: old receipts go, and the rest stays verifiable.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { openAuditLog, readAuditLog } from '../../src/audit/log.ts';
import { pruneLog } from '../../src/audit/prune.ts';
import type { Verification } from '../../src/audit/queries.ts';
import { folderPerTest } from '../test-folder.ts';
import { exampleReceipt } from './example-receipt.ts';

const folder = folderPerTest();
let file: string;
beforeEach(() => {
  file = folder.at('audit.db');
});

/** Receipts that began at these seconds, one after the other. */
function fill(...seconds: number[]): void {
  const log = openAuditLog({ file });
  for (const at of seconds)
    log.append(exampleReceipt({ call_id: `call-${at}`, started_at: new Date(at * 1000).toISOString() }));
  log.close();
}

function verify(rememberedHead?: string): Verification | undefined {
  using log = readAuditLog(file);
  return log?.verify(rememberedHead === undefined ? {} : { rememberedHead });
}

function tamper(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const at = (seconds: number): Date => new Date(seconds * 1000);

describe('pruneLog', () => {
  test('removes old receipts, and the rest verifies with a checkpoint', () => {
    fill(1, 2, 3, 4);
    const head = verify()?.head;
    const { removed, checkpoint } = pruneLog(file, at(3));
    expect(removed).toBe(2);
    expect(checkpoint).toMatchObject({ through_seq: 2, head_seq: 4, head_hash: head });
    expect(verify(head)).toMatchObject({ ok: true, count: 2, head, pruned: { through_seq: 2 } });
    fill(5);
    expect(verify(head)).toMatchObject({ ok: true, count: 3 });
    expect(pruneLog(file, at(5)).removed).toBe(2);
    expect(verify()).toMatchObject({ ok: true, count: 1, pruned: { through_seq: 4 } });
    expect(pruneLog(file, at(5))).toEqual({ removed: 0 });
  });

  test('always keeps the newest receipt, and appends after it', () => {
    fill(1, 2);
    expect(pruneLog(file, at(100)).removed).toBe(1);
    fill(3);
    expect(verify()).toMatchObject({ ok: true, count: 2 });
  });

  test('works while a service has the log open', () => {
    fill(1, 2, 3);
    const log = openAuditLog({ file });
    expect(pruneLog(file, at(3)).removed).toBe(2);
    log.append(exampleReceipt({ call_id: 'later', started_at: at(4).toISOString() }));
    expect(log.verify()).toMatchObject({ ok: true, count: 2 });
    log.close();
  });

  test('knows the heads that were pruned, and no others', () => {
    fill(1, 2);
    const first = verify()?.head;
    fill(3, 4);
    pruneLog(file, at(3));
    expect(verify(first)).toMatchObject({ ok: true });
    expect(verify('a'.repeat(64))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('remembered head') as string,
    });
  });

  test('leaves a cut-off end visible to a remembered head', () => {
    fill(1, 2, 3);
    const head = verify()?.head;
    pruneLog(file, at(2));
    tamper('DELETE FROM receipt WHERE seq = 3');
    expect(verify()).toMatchObject({ ok: true });
    expect(verify(head)).toMatchObject({ ok: false });
  });

  test.each([
    ['a removed checkpoint', 'DELETE FROM checkpoint'],
    ['a removed first checkpoint', 'DELETE FROM checkpoint WHERE id = 1'],
    [
      'a changed checkpoint',
      `UPDATE checkpoint SET body = replace(body, '"through_seq":1', '"through_seq":0')`,
    ],
    ['another removed receipt', 'DELETE FROM receipt WHERE seq = 3'],
    ['a changed receipt', `UPDATE receipt SET body = replace(body, 'cli', 'me') WHERE seq = 4`],
  ])('verify finds %s', (_, sql) => {
    fill(1, 2, 3, 4);
    pruneLog(file, at(2));
    pruneLog(file, at(3));
    expect(verify()).toMatchObject({ ok: true });
    tamper(sql);
    expect(verify()).toMatchObject({ ok: false });
  });

  test('refuses to hide a broken chain', () => {
    fill(1, 2, 3);
    tamper(`UPDATE receipt SET body = replace(body, 'cli', 'me') WHERE seq = 1`);
    expect(() => pruneLog(file, at(3))).toThrow('receipt 1: its content was changed');
    expect(verify()).toMatchObject({ ok: false, brokenAt: 1 });
  });

  test('creates no log', () => {
    expect(pruneLog(file, at(1))).toEqual({ removed: 0 });
    expect(existsSync(file)).toBe(false);
  });
});
