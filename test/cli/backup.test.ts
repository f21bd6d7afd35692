/**
 * Backup and restore of a home, while a writer has the log open.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuditLog, type AuditLog } from '../../src/audit/log.ts';
import { exampleReceipt } from '../audit/example-receipt.ts';
import { openCommandLine, type CommandLine } from './command.ts';

let line: CommandLine;
let log: AuditLog;
const at = (name: string): string => join(line.folder, name);

beforeAll(() => {
  line = openCommandLine();
  log = openAuditLog({ file: at('home/audit.db') });
  log.append(exampleReceipt({ call_id: 'one' }));
  log.append(exampleReceipt({ call_id: 'two' }));
  log.verify();
  mkdirSync(at('home/approvals'));
  writeFileSync(at('home/approvals/a.json'), '{}');
  writeFileSync(at('home/access.json'), '{"version":1}');
});
afterAll(() => {
  log.close();
  line.close();
});

describe('skillcell backup', () => {
  test('writes a folder while the log is in use, and restore makes a home that verifies', async () => {
    const made = await line.run(['backup', at('copy'), '--tokens']);
    expect(made.stderr).toBe('');
    expect(made.stdout).toContain('2 receipts, chain intact');
    expect(statSync(at('copy')).mode & 0o777).toBe(0o700);
    expect(statSync(at('copy/audit.db')).mode & 0o777).toBe(0o600);
    log.append(exampleReceipt({ call_id: 'three' }));
    const env = { SKILLCELL_HOME: at('second') };
    expect(await line.run(['restore', at('copy')], { env })).toMatchObject({ code: 0 });
    expect((await line.run(['audit', 'verify'], { env })).stdout).toContain('2 receipts, chain intact');
    expect(readFileSync(at('second/access.json'), 'utf8')).toBe('{"version":1}');
    expect(existsSync(at('second/approvals/a.json'))).toBe(true);
    const again = await line.run(['restore', at('copy')], { env });
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('it already has');
  });

  test('has no tokens unless they are asked for, and overwrites nothing', async () => {
    expect((await line.run(['backup', at('plain')])).code).toBe(0);
    expect(existsSync(at('plain/access.json'))).toBe(false);
    const again = await line.run(['backup', at('plain')]);
    expect(again.stderr).toContain('exists already');
    expect(again.code).toBe(2);
  });

  test('is refused if it is damaged or not a backup', async () => {
    expect((await line.run(['backup', at('bad')])).code).toBe(0);
    const database = new DatabaseSync(at('bad/audit.db'));
    database.exec(`UPDATE receipt SET body = replace(body, 'cli', 'me') WHERE seq = 1`);
    database.close();
    const env = { SKILLCELL_HOME: at('third') };
    expect((await line.run(['restore', at('bad')], { env })).stderr).toContain('are damaged');
    expect((await line.run(['restore', at('home')], { env })).stderr).toContain('is not a backup');
    expect(existsSync(at('third/audit.db'))).toBe(false);
  });
});
