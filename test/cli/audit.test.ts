/**
 * `skillcell audit`: filters, export and pruning.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createCallIds } from '../../src/audit/call-id.ts';
import { openAuditLog } from '../../src/audit/log.ts';
import type { StoredReceipt } from '../../src/inside.ts';
import { exampleReceipt } from '../audit/example-receipt.ts';
import { openCommandLine, type CommandLine } from './command.ts';

const DAY_MS = 86_400_000;
let line: CommandLine;

/** Three calls: 100 days, 10 days and 1 day ago. */
beforeAll(() => {
  line = openCommandLine();
  const log = openAuditLog({ file: join(line.folder, 'home/audit.db') });
  const add = (days: number, over: Parameters<typeof exampleReceipt>[0]): void => {
    const started = Date.now() - days * DAY_MS;
    const call_id = createCallIds({ now: () => started })();
    log.append(exampleReceipt({ ...over, call_id, started_at: new Date(started).toISOString() }));
  };
  add(100, { caller: 'cli', params: { name: 'Ada' } });
  add(10, { caller: 'http:acme:laptop', code: 'timeout' as never });
  add(1, { caller: 'http:acme:phone', skill: { name: 'text/other', version: '1', digest: 'sha256:1' } });
  log.close();
});
afterAll(() => line.close());

async function callers(...flags: string[]): Promise<string[]> {
  const { stdout } = await line.run(['audit', 'list', '--json', ...flags]);
  return (JSON.parse(stdout) as StoredReceipt[]).map(({ receipt }) => receipt.caller);
}

describe('skillcell audit', () => {
  test('show --tree prints each call below the call that made it', async () => {
    const other = openCommandLine();
    onTestFinished(() => other.close());
    const log = openAuditLog({ file: join(other.folder, 'home/audit.db') });
    const named = (name: string): { skill: { name: string; version: string; digest: string } } => ({
      skill: { name, version: '1', digest: 'sha256:1' },
    });
    log.append(exampleReceipt({ call_id: '3', parent: '2', root: '1', depth: 2, ...named('text/third') }));
    log.append(exampleReceipt({ call_id: '2', parent: '1', root: '1', depth: 1, ...named('text/second') }));
    log.append(exampleReceipt({ call_id: '4', parent: '1', root: '1', depth: 1, ...named('text/fourth') }));
    log.append(exampleReceipt({ call_id: '1', ...named('text/first') }));
    log.close();
    const { stdout } = await other.run(['audit', 'show', '3', '--tree']);
    const [, ...lines] = stdout.trimEnd().split('\n');
    expect(lines.map((line) => /^\d +text\/\w+/.exec(line)?.[0])).toEqual([
      '1     text/first',
      '2       text/second',
      '3         text/third',
      '4       text/fourth',
    ]);
    const json = await other.run(['audit', 'show', '1', '--tree', '--json']);
    const found = JSON.parse(json.stdout) as StoredReceipt[];
    expect(found.map(({ receipt }) => receipt.call_id)).toEqual(['1', '2', '3', '4']);
    expect(await other.run(['audit', 'show', '9', '--tree'])).toMatchObject({ code: 2 });
  });

  test('list selects by time, caller, tenant, skill and outcome', async () => {
    expect(await callers()).toEqual(['http:acme:phone', 'http:acme:laptop', 'cli']);
    expect(await callers('--since', '30d')).toEqual(['http:acme:phone', 'http:acme:laptop']);
    expect(await callers('--since', '30d', '--until', '5d')).toEqual(['http:acme:laptop']);
    expect(await callers('--since', '2000-01-01', '--until', '2001-01-01T00:00:00Z')).toEqual([]);
    expect(await callers('--caller', 'http:acme:phone')).toEqual(['http:acme:phone']);
    expect(await callers('--tenant', 'acme', '--skill', 'text/other')).toEqual(['http:acme:phone']);
    expect(await callers('--outcome', 'failed')).toEqual(['http:acme:laptop']);
    expect(await callers('--outcome', 'ok')).toEqual(['http:acme:phone', 'cli']);
  });

  test.each([
    [['list', '--since', 'yesterday'], '--since "yesterday" is not a time'],
    [['list', '--until', '2026-13-45'], '--until "2026-13-45" is not a time'],
    [['list', '--outcome', 'bad'], '--outcome "bad" is not an outcome'],
    [['prune', '--keep', '-1d'], '--keep "-1d" is not a time'],
    [['prune'], '--keep'],
    [['export', '--format', 'otlp', '--to', 'http://collector.example.com/v1/logs'], 'is not the address'],
    [['export', '--format', 'otlp', '--to', 'https://me:word@127.0.0.1/'], 'is not the address'],
    [['export', '--to', 'https://127.0.0.1:1/'], '--to sends OTLP logs'],
    [['export', '--out', '/nowhere/file'], 'Cannot write'],
  ])('refuses %j', async (args, said) => {
    const ended = await line.run(['audit', ...args]);
    expect(ended.stderr).toContain(said);
    expect(ended.code).toBe(2);
  });

  test('export writes JSON lines, oldest first, without content unless it is asked for', async () => {
    const { stdout } = await line.run(['audit', 'export', '--tenant', 'acme']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as StoredReceipt);
    expect(lines.map(({ receipt }) => receipt.caller)).toEqual(['http:acme:laptop', 'http:acme:phone']);
    const file = join(line.folder, 'out.jsonl');
    expect((await line.run(['audit', 'export', '--out', file])).stderr).toContain('Exported 3 receipts');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('Ada');
    expect((await line.run(['audit', 'export', '--out', file])).code).toBe(2);
    expect((await line.run(['audit', 'export', '--content'])).stdout).toContain('Ada');
  });

  test('export sends OTLP logs to a collector, and says where to go on if it refuses', async () => {
    const bodies: string[] = [];
    let status = 200;
    const server = createServer((request, response) => {
      let body = `${request.headers['x-key'] as string} `;
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(status).end('{}');
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`;
    const send = (): ReturnType<CommandLine['run']> =>
      line.run(['audit', 'export', '--format', 'otlp', '--to', to, '--since', '30d'], {
        env: { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b' },
      });
    expect(await send()).toMatchObject({ code: 0 });
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toMatch(/^a b /);
    const sent = JSON.parse(bodies[0]?.slice(4) ?? '') as {
      resourceLogs: { scopeLogs: { logRecords: { timeUnixNano: string; severityText: string }[] }[] }[];
    };
    const records = sent.resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
    expect(records.map(({ severityText }) => severityText)).toEqual(['WARN', 'INFO']);
    expect(records[0]?.timeUnixNano).toMatch(/^\d{19}$/);
    status = 503;
    const refused = await send();
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/status 503[^]*--since \d{4}-/);
  });

  test('prune removes what is older, and verify says so', async () => {
    expect((await line.run(['audit', 'prune', '--keep', '90d'])).stdout).toContain('Pruned 1 receipts');
    const verified = await line.run(['audit', 'verify']);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain('2 receipts, chain intact');
    expect(verified.stdout).toContain('1 older receipts were pruned');
    expect(await callers()).toEqual(['http:acme:phone', 'http:acme:laptop']);
    expect((await line.run(['audit', 'prune', '--keep', '90d'])).stdout).toContain('No receipt is that old');
  });
});
