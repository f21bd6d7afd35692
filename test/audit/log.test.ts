import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCallIds } from '../../src/audit/call-id.ts';
import { cannotWrite } from '../../src/audit/cannot-write.ts';
import { Intake, type Patience } from '../../src/audit/intake.ts';
import { Journal } from '../../src/audit/journal.ts';
import { GENESIS, type Verification } from '../../src/audit/queries.ts';
import { openAuditLog } from '../../src/audit/log.ts';
import { SkillError } from '../../src/errors.ts';
import { exampleReceipt } from './example-receipt.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-audit-'));
  file = join(folder, 'state', 'audit.db');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fill(count: number): string[] {
  const log = openAuditLog({ file });
  const ids = Array.from({ length: count }, (_, index) => `call-${index + 1}`);
  for (const id of ids) log.append(exampleReceipt({ call_id: id }));
  const hashes = ids.map((id) => log.show(id)?.hash ?? 'none');
  log.close();
  return hashes;
}

function tamper(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function verify(rememberedHead?: string): Verification {
  const log = openAuditLog({ file });
  try {
    return log.verify(rememberedHead === undefined ? {} : { rememberedHead });
  } finally {
    log.close();
  }
}

function openingError(): SkillError {
  try {
    openAuditLog({ file }).close();
  } catch (error) {
    if (error instanceof SkillError) return error;
  }
  throw new Error('Expected a SkillError');
}

describe('openAuditLog', () => {
  it('keeps receipts after it is opened again and shows one by its call id', () => {
    const [first] = fill(2);
    const log = openAuditLog({ file });
    expect(log.show('call-1')).toEqual({
      seq: 1,
      hash: first,
      receipt: exampleReceipt({ call_id: 'call-1' }),
    });
    expect(log.show('call-9')).toBeUndefined();
    log.close();
  });

  it('lists the newest first and filters by skill, code and denials', () => {
    const log = openAuditLog({ file });
    const other = { name: 'a/b', version: '1', digest: 'sha256:bb' };
    log.append(exampleReceipt({ call_id: 'plain' }));
    log.append(exampleReceipt({ call_id: 'denied', denied_count: 2 }));
    log.append(exampleReceipt({ call_id: 'limit', code: 'resource_exceeded', limit: 'timeout' }));
    log.append(exampleReceipt({ call_id: 'other', skill: other }));
    const ids = (options: Parameters<typeof log.list>[0]): string[] =>
      log.list(options).map((stored) => stored.receipt.call_id);
    expect(ids({})).toEqual(['other', 'limit', 'denied', 'plain']);
    expect(ids({ limit: 2 })).toEqual(['other', 'limit']);
    expect(ids({ skill: 'a/b' })).toEqual(['other']);
    expect(ids({ code: 'resource_exceeded' })).toEqual(['limit']);
    expect(ids({ deniedOnly: true })).toEqual(['denied']);
    log.close();
  });

  it('filters by sequence number, caller and time', () => {
    const log = openAuditLog({ file });
    let now = 0;
    const nextId = createCallIds({ now: () => now });
    const ids = ['acme', 'acme2', 'acme', 'acme2'].map((tenant) => {
      now += 1000;
      const receipt = {
        call_id: nextId(),
        caller: `http:${tenant}:one`,
        started_at: new Date(now).toISOString(),
      };
      log.append(exampleReceipt(receipt));
      return receipt.call_id;
    });
    const listed = (options: Parameters<typeof log.list>[0]): number[] =>
      log.list(options).map((stored) => ids.indexOf(stored.receipt.call_id));
    expect(listed({ beforeSeq: 3 })).toEqual([1, 0]);
    expect(listed({ beforeSeq: 4, fromSeq: 2 })).toEqual([2, 1]);
    expect(listed({ callerPrefix: 'http:acme:' })).toEqual([2, 0]);
    expect(listed({ callerPrefix: 'http:acme2:', skip: 1 })).toEqual([1]);
    expect(listed({ callerPrefix: 'http:' })).toEqual([]);
    expect(listed({ since: new Date(3000) })).toEqual([3, 2]);
    expect(listed({ since: new Date(5000) })).toEqual([]);
    log.close();
  });

  it('makes the file readable only for its owner, even if others could read it before', () => {
    fill(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    fill(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('lets two processes append to one chain at the same time', async () => {
    const script = join(import.meta.dirname, 'append-many.ts');
    const children = ['a', 'b'].map((name) =>
      spawn(process.execPath, [script, file, name, '500'], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const exits = children.map(async (child) => (await once(child, 'exit'))[0] as number);
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    for (const child of children) child.stdin.write('go');
    expect(await Promise.all(exits)).toEqual([0, 0]);
    expect(verify()).toMatchObject({ ok: true, count: 1000 });
    const log = openAuditLog({ file });
    expect(new Set(log.list({ limit: 2000 }).map((stored) => stored.receipt.call_id)).size).toBe(1000);
    log.close();
  });

  it('does not continue a chain whose receipts were cut off while it was open', () => {
    const log = openAuditLog({ file });
    for (let count = 0; count < 3; count++) log.append(exampleReceipt());
    expect(log.list()).toHaveLength(3);
    tamper('DELETE FROM receipt WHERE seq = 3');
    log.append(exampleReceipt());
    expect(log.verify()).toMatchObject({ ok: false, brokenAt: 4, reason: 'receipt 3 is missing' });
    log.close();
  });

  it('keeps the chain intact if one process has the log open twice', () => {
    const one = openAuditLog({ file });
    const two = openAuditLog({ file });
    one.append(exampleReceipt());
    two.append(exampleReceipt());
    one.append(exampleReceipt());
    expect(one.list()).toHaveLength(2);
    expect(two.verify()).toMatchObject({ ok: true, count: 3 });
    one.close();
    two.close();
  });

  it('keeps receipts while another process holds the log, and reports that to readers', () => {
    const log = openAuditLog({ file, busyTimeoutMs: 1 });
    const blocker = new DatabaseSync(file);
    blocker.exec('BEGIN IMMEDIATE');
    log.append(exampleReceipt());
    expect(() => log.list()).toThrow(SkillError);
    blocker.exec('ROLLBACK');
    blocker.close();
    log.append(exampleReceipt());
    expect(log.verify()).toMatchObject({ ok: true, count: 2 });
    log.close();
  });

  it('accepts calls while another process holds the log, and reports that it does', () => {
    const log = openAuditLog({ file });
    const blocker = new DatabaseSync(file);
    blocker.exec('BEGIN IMMEDIATE');
    log.append(exampleReceipt());
    expect(() => log.assertWritable()).not.toThrow();
    expect(() => log.begin(exampleReceipt())).not.toThrow();
    blocker.exec('ROLLBACK');
    blocker.close();
    expect(log.verify()).toMatchObject({ ok: true, count: 1 });
    log.close();
  });

  it('makes only readers and close wait for another process', async () => {
    const asked: Patience[] = [];
    const journal = new Journal(join(folder, 'asked.db'));
    const intake = new Intake(journal, (_, patience) => {
      asked.push(patience);
      throw cannotWrite({ errcode: 5 });
    });
    intake.begin(exampleReceipt());
    intake.end(exampleReceipt());
    intake.assertWritable();
    intake.begin(exampleReceipt());
    await vi.waitFor(() => expect(asked.length, 'it retries without a new receipt').toBeGreaterThan(2));
    expect(new Set(asked)).toEqual(new Set(['none']));
    expect(() => intake.flush()).toThrow(SkillError);
    intake.close();
    expect(asked.slice(-2)).toEqual(['some', 'most']);
  });
});

describe('openAuditLog on an invalid file', () => {
  it('refuses other content and says how to continue', () => {
    mkdirSync(join(folder, 'state'));
    writeFileSync(file, 'no database at all, but long enough to have a header'.repeat(20));
    const error = openingError();
    expect(error.code).toBe('usage');
    expect(error.message).toContain(file);
    expect(error.fix).toContain('SKILLCELL_HOME');
  });

  it('refuses a folder that cannot be created', () => {
    writeFileSync(join(folder, 'state'), 'a file where the folder should be');
    expect(openingError().code).toBe('usage');
  });

  it('refuses a schema of a newer version', () => {
    fill(1);
    tamper('PRAGMA user_version = 99');
    expect(openingError().message).toContain('schema version 99');
  });
});

describe('verify', () => {
  it('accepts an untouched chain and returns its head and count', () => {
    expect(verify()).toEqual({ ok: true, count: 0, head: GENESIS });
    const hashes = fill(4);
    expect(verify()).toEqual({ ok: true, count: 4, head: hashes[3] });
  });

  const UP = 'UPDATE receipt SET seq';
  it.each([
    {
      name: 'a changed body',
      sql: `UPDATE receipt SET body = replace(body, '"ok"', '"ko"') WHERE seq = 2`,
      brokenAt: 2,
      reason: 'changed',
    },
    {
      name: 'a changed hash',
      sql: `UPDATE receipt SET hash = 'ff' WHERE seq = 2`,
      brokenAt: 2,
      reason: 'changed',
    },
    {
      name: 'a removed receipt',
      sql: 'DELETE FROM receipt WHERE seq = 2',
      brokenAt: 3,
      reason: 'receipt 2 is missing',
    },
    {
      name: 'a removed first one',
      sql: 'DELETE FROM receipt WHERE seq = 1',
      brokenAt: 2,
      reason: 'receipt 1 is missing',
    },
    {
      name: 'a removed receipt whose gap was closed',
      sql: `DELETE FROM receipt WHERE seq = 2; ${UP} = 2 WHERE seq = 3; ${UP} = 3 WHERE seq = 4`,
      brokenAt: 2,
      reason: 'does not follow',
    },
    {
      name: 'two swapped receipts',
      sql: `${UP} = -2 WHERE seq = 2; ${UP} = 2 WHERE seq = 3; ${UP} = 3 WHERE seq = -2`,
      brokenAt: 2,
      reason: 'does not follow',
    },
  ])('finds $name', ({ sql, brokenAt, reason }) => {
    fill(4);
    tamper(sql);
    const result = verify();
    expect(result).toMatchObject({ ok: false, brokenAt });
    expect(result.reason).toContain(reason);
  });

  it('finds newest receipts that were cut off only against a remembered head', () => {
    const hashes = fill(4);
    tamper('DELETE FROM receipt WHERE seq > 2');
    expect(verify()).toMatchObject({ ok: true, count: 2 });
    expect(verify(hashes[3])).toMatchObject({ ok: false, count: 2 });
    expect(verify(hashes[1])).toMatchObject({ ok: true });
  });
});
