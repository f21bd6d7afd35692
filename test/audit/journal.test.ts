import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAuditLog, readAuditLog, type AuditLog } from '../../src/audit/log.ts';
import { failingDisk } from './failing-files.ts';
import { exampleReceipt } from './example-receipt.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();
let file: string;

beforeEach(() => {
  file = folder.at('audit.db');
});

function journals(): string[] {
  return readdirSync(folder.path).filter((name) => name.endsWith('.journal'));
}

function rowsOnDisk(): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const { count } = database.prepare('SELECT count(*) AS count FROM receipt').get() as { count: number };
  database.close();
  return count;
}

/** Creates the journal of a killed process. */
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
  it('are distinguished from those already in the log if a killed process left both', async () => {
    const log = openAuditLog({ file });
    log.append(exampleReceipt({ call_id: 'call-0' }));
    log.close();
    await killedAfter(3, 2);
    using read = readAuditLog(file);
    expect(read?.leftBehind).toBe(2);
  });

  it('are private and on disk when append returns, and reach the log soon after', async () => {
    const log = openAuditLog({ file });
    log.append(exampleReceipt());
    expect(rowsOnDisk()).toBe(0);
    const [journal = ''] = journals();
    expect(statSync(folder.at(journal)).mode & 0o777).toBe(0o600);
    await expect.poll(rowsOnDisk).toBe(1);
    log.close();
    expect(journals()).toEqual([]);
  });

  it('are imported in batches', async () => {
    const log = openAuditLog({ file });
    for (let index = 0; index < 8; index++) log.append(exampleReceipt({ call_id: `call-${index}` }));
    await new Promise(setImmediate);
    expect(rowsOnDisk()).toBe(8);
    log.close();
  });

  it('are imported once even if a finished journal cannot be removed', () => {
    const disk = failingDisk();
    const log = openAuditLog({ file, files: disk });
    disk.keepsFiles = true;
    const params = 'x'.repeat(60_000);
    const ids = Array.from({ length: 10 }, (_, index) => `call-${index}`);
    for (const call_id of ids) log.append(exampleReceipt({ call_id, params }));
    // The journal is large enough to be replaced.
    expect(Object.keys(codes(log))).toHaveLength(10);
    log.append(exampleReceipt({ call_id: 'last' }));
    log.close();
    expect(journals().length).toBeGreaterThan(1);
    const next = openAuditLog({ file });
    expect(next.list().map(({ receipt }) => receipt.call_id)).toHaveLength(11);
    expect(new Set(Object.keys(codes(next)))).toEqual(new Set([...ids, 'last']));
    next.close();
    expect(journals()).toEqual([]);
  });

  it('do not make the journal grow without bound', async () => {
    const log = openAuditLog({ file });
    const params = 'x'.repeat(60_000);
    log.begin(exampleReceipt({ call_id: 'under-way', code: 'internal' }));
    for (let index = 0; index < 10; index++) {
      log.append(exampleReceipt({ call_id: `call-${index}`, params }));
      log.list({ limit: 1 });
    }
    const [journal = '', ...others] = journals();
    expect(others).toEqual([]);
    expect(statSync(folder.at(journal)).size).toBeLessThan(330_000);
    const other = openAuditLog({ file });
    expect(other.show('under-way'), 'the call is still in progress').toBeUndefined();
    other.close();
    log.close();
    const next = openAuditLog({ file });
    expect(next.show('under-way')?.receipt.code).toBe('internal');
    next.close();
  });

  it('survive a kill of the process, and its unfinished calls get a receipt that says so', async () => {
    await killedAfter(3, 2);
    expect(rowsOnDisk()).toBe(0);
    const log = openAuditLog({ file });
    expect(codes(log)).toEqual({ 'call-0': 'ok', 'call-1': 'ok', 'call-2': 'internal' });
    expect(log.verify()).toMatchObject({ ok: true, count: 3 });
    log.close();
    expect(journals()).toEqual([]);
  });

  it('are imported once, however far the killed process had come', async () => {
    await killedAfter(0, 2);
    const [journal = ''] = journals();
    copyFileSync(folder.at(journal), folder.at(`${journal}.kept`));
    openAuditLog({ file }).close();
    copyFileSync(folder.at(`${journal}.kept`), folder.at(journal));
    expect(journals(), 'a journal whose lock is gone').toEqual([journal]);
    const log = openAuditLog({ file });
    expect(log.verify()).toMatchObject({ ok: true, count: 2 });
    log.close();
  });

  it('count only if they were written completely', async () => {
    await killedAfter(0, 1);
    const [journal = ''] = journals();
    appendFileSync(folder.at(journal), '{"call_id":"torn","code":"o');
    const log = openAuditLog({ file });
    expect(codes(log)).toEqual({ 'call-0': 'ok' });
    log.close();
  });
});
