import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAuditLog, readAuditLog, type AuditLog } from '../../src/audit/log.ts';
import { exampleReceipt } from './example-receipt.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-journal-'));
  file = join(folder, 'audit.db');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function journals(): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.journal'));
}

function rowsOnDisk(): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const { count } = database.prepare('SELECT count(*) AS count FROM receipt').get() as { count: number };
  database.close();
  return count;
}

/** Leaves the journal of a killed process behind. */
async function killedAfter(begun: number, ended: number): Promise<void> {
  const script = join(import.meta.dirname, 'left-behind.ts');
  const child = spawn(process.execPath, [script, file, String(begun), String(ended)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function codes(log: AuditLog): Record<string, string> {
  return Object.fromEntries(log.list().map(({ receipt }) => [receipt.call_id, receipt.code]));
}

describe('receipts on their way into the log', () => {
  it('are told apart from those that are in the log already, when a killed process left both', async () => {
    const log = openAuditLog({ file });
    log.append(exampleReceipt({ call_id: 'call-0' }));
    log.close();
    await killedAfter(3, 2);
    using read = readAuditLog(file);
    expect(read?.leftBehind).toBe(2);
  });

  it('are on disk when append returns, private, and in the log a moment later', async () => {
    const log = openAuditLog({ file });
    log.append(exampleReceipt());
    expect(rowsOnDisk()).toBe(0);
    const [journal = ''] = journals();
    expect(statSync(join(folder, journal)).mode & 0o777).toBe(0o600);
    await expect.poll(rowsOnDisk, { timeout: 10_000 }).toBe(1);
    log.close();
    expect(journals()).toEqual([]);
  });

  it('come in together when there are many', async () => {
    const log = openAuditLog({ file });
    for (let index = 0; index < 8; index++) log.append(exampleReceipt({ call_id: `call-${index}` }));
    await new Promise(setImmediate);
    expect(rowsOnDisk()).toBe(8);
    log.close();
  });

  it('do not make the journal grow for ever', async () => {
    const log = openAuditLog({ file });
    const params = 'x'.repeat(60_000);
    log.begin(exampleReceipt({ call_id: 'under-way', code: 'internal' }));
    for (let index = 0; index < 10; index++) {
      log.append(exampleReceipt({ call_id: `call-${index}`, params }));
      log.list({ limit: 1 });
    }
    const [journal = '', ...others] = journals();
    expect(others).toEqual([]);
    expect(statSync(join(folder, journal)).size).toBeLessThan(330_000);
    const other = openAuditLog({ file });
    expect(other.show('under-way'), 'it may still end').toBeUndefined();
    other.close();
    log.close();
    const next = openAuditLog({ file });
    expect(next.show('under-way')?.receipt.code).toBe('internal');
    next.close();
  });

  it('survive a kill of the process, and calls that it did not end get the receipt that says so', async () => {
    await killedAfter(3, 2);
    expect(rowsOnDisk()).toBe(0);
    const log = openAuditLog({ file });
    expect(codes(log)).toEqual({ 'call-0': 'ok', 'call-1': 'ok', 'call-2': 'internal' });
    expect(log.verify()).toMatchObject({ ok: true, count: 3 });
    log.close();
    expect(journals()).toEqual([]);
  });

  it('are brought in once, whatever the killed process had done already', async () => {
    await killedAfter(0, 2);
    const [journal = ''] = journals();
    copyFileSync(join(folder, journal), join(folder, `${journal}.kept`));
    openAuditLog({ file }).close();
    copyFileSync(join(folder, `${journal}.kept`), join(folder, journal));
    expect(journals(), 'a journal whose lock is gone').toEqual([journal]);
    const log = openAuditLog({ file });
    expect(log.verify()).toMatchObject({ ok: true, count: 2 });
    log.close();
  });

  it('count only when they were written whole', async () => {
    await killedAfter(0, 1);
    const [journal = ''] = journals();
    appendFileSync(join(folder, journal), '{"call_id":"torn","code":"o');
    const log = openAuditLog({ file });
    expect(codes(log)).toEqual({ 'call-0': 'ok' });
    log.close();
  });
});
