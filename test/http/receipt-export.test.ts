/**
 * Filters on calls and receipts, and their export, seen by tenants and by an admin.
 */
import { array, assert, property, string } from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvLine } from '../../src/http/receipt-export.ts';
import { MAX_EXPORTED } from '../../src/http/receipts.ts';
import type { Receipt } from '../../src/inside.ts';
import { openStage, type Stage } from './stage.ts';

const SKILLS = {
  echo: { source: 'def execute(params):\n    return params' },
  light: {
    source: 'def execute(params):\n    return "light"',
    manifest: { execution: ['wasm'] },
  },
  slow: { source: 'import time\ndef execute(params):\n    time.sleep(20)' },
  nosy: { source: 'def execute(params):\n    return open("/etc/hostname").read()' },
};

interface Stored {
  seq?: number;
  hash?: string;
  receipt: Receipt;
}

let stage: Stage;
/** Between the calls of the two tenants. */
let middle: string;

beforeAll(async () => {
  stage = await openStage({ skills: SKILLS, runtime: { audit: { keepContent: true } } });
  await stage.execute('test/echo', { secret: 'acme-only' });
  await stage.execute('test/nosy');
  await new Promise((resolve) => setTimeout(resolve, 20));
  middle = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await stage.execute('test/echo', {}, { as: 'other' });
  await stage.execute('test/light', {}, { as: 'both' });
});

afterAll(() => stage[Symbol.asyncDispose]());

async function list(query: string, as: string): Promise<Receipt[]> {
  const response = await stage.ask(`/v1/receipts?${query}`, { as });
  expect(response.status).toBe(200);
  const { receipts } = (await response.json()) as { receipts: Stored[] };
  return receipts.map(({ receipt }) => receipt);
}

async function exported(query: string, as: string): Promise<string> {
  const response = await stage.ask(`/v1/receipts/export?${query}`, { as });
  expect(response.status).toBe(200);
  return response.text();
}

async function lines(query: string, as: string): Promise<Stored[]> {
  const text = await exported(query, as);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Stored);
}

describe('a filter on receipts', () => {
  test('selects by caller, tenant, mode and time', async () => {
    const callers = async (query: string): Promise<string[]> =>
      (await list(query, 'admin')).map(({ caller, skill }) => `${caller} ${skill.name}`);
    expect(await callers('caller=http:umbrella:other')).toEqual(['http:umbrella:other test/echo']);
    expect(await callers('tenant=umbrella')).toEqual(['http:umbrella:other test/echo']);
    expect(await callers('mode=wasm')).toEqual(['http:acme:both test/light']);
    expect(await callers(`until=${middle}`)).toEqual([
      'http:acme:caller test/nosy',
      'http:acme:caller test/echo',
    ]);
    expect(await callers(`since=${middle}&tenant=acme`)).toEqual(['http:acme:both test/light']);
    expect(await callers('since=2000-01-01&until=2001-01-01')).toEqual([]);
  });

  test.each(['since=yesterday', 'since=2026-13-01', 'mode=none', 'limit=0', 'format=csv', 'owner=acme'])(
    'that is invalid (%s) is refused',
    async (query) => {
      expect((await stage.ask(`/v1/receipts?${query}`, { as: 'admin' })).status).toBe(400);
    },
  );

  test('also selects calls', async () => {
    const past = async (query: string): Promise<unknown> => {
      const { past: found } = (await (await stage.ask(`/v1/calls?${query}`, { as: 'admin' })).json()) as {
        past: Stored[];
      };
      return found.map(({ receipt }) => receipt.skill.name);
    };
    expect(await past('tenant=umbrella')).toEqual(['test/echo']);
    expect(await past('denied=true')).toEqual(['test/nosy']);
    expect(await past('limit=0')).toEqual([]);
  });

  test('does not show a tenant the calls of another', async () => {
    for (const path of ['/v1/receipts', '/v1/receipts/export', '/v1/calls']) {
      const foreign = await stage.ask(`${path}?tenant=acme`, { as: 'other' });
      const unknown = await stage.ask(`${path}?tenant=nobody`, { as: 'other' });
      expect(foreign.status).toBe(403);
      // The answer does not reveal which tenants exist.
      expect(await foreign.text()).toBe(await unknown.text());
      expect((await stage.ask(`${path}?tenant=umbrella`, { as: 'other' })).status).toBe(200);
    }
    expect(await list('caller=http:acme:caller', 'other')).toEqual([]);
    expect(await list('tenant=umbrella', 'other')).toHaveLength(1);
  });

  test('on running calls applies to the skill, the caller and the tenant', async () => {
    const running = async (query: string): Promise<number> => {
      const answer = await stage.ask(`/v1/calls?limit=0&${query}`, { as: 'admin' });
      return ((await answer.json()) as { running: unknown[] }).running.length;
    };
    const call = stage.execute('test/slow', {}, { as: 'other' });
    await expect.poll(() => running('')).toBe(1);
    for (const query of ['skill=test/slow', 'caller=http:umbrella:other', 'tenant=umbrella'])
      expect(await running(query)).toBe(1);
    for (const query of ['skill=test/echo', 'caller=http:acme:both', 'tenant=acme'])
      expect(await running(query)).toBe(0);
    stage.running.service.live.cancelAll();
    await call;
  });
});

describe('the export of receipts', () => {
  test('as JSON lines has what the list has, without kept parameters and results', async () => {
    const all = await lines('', 'admin');
    const listed = await list('', 'admin');
    expect(listed.some(({ params }) => params !== undefined)).toBe(true);
    expect(all.map(({ receipt }) => receipt)).toEqual(
      listed.map(({ params: _params, result: _result, ...rest }) => rest),
    );
    expect(await lines('denied=true', 'admin')).toHaveLength(1);
  });

  test('gives a tenant only its own receipts, without their place in the log', async () => {
    for (const format of ['jsonl', 'csv']) {
      const theirs = await exported(`format=${format}`, 'other');
      expect(theirs).toContain('http:umbrella:other');
      for (const hidden of ['acme', 'seq', '"hash', ',hash']) expect(theirs).not.toContain(hidden);
    }
    const before = await exported('', 'other');
    await stage.execute('test/echo');
    expect(await exported('', 'other')).toBe(before);
    expect((await lines('', 'admin')).every(({ seq, hash }) => seq !== undefined && hash !== undefined)).toBe(
      true,
    );
    expect(await exported('format=csv', 'admin')).toMatch(/,seq,hash\r\n/);
  });

  test('refuses a token without the scope, and a position of another tenant', async () => {
    expect((await stage.ask('/v1/receipts/export')).status).toBe(401);
    expect((await stage.ask('/v1/receipts/export', { as: 'caller' })).status).toBe(403);
    const [foreign] = await list('tenant=acme', 'admin');
    const path = `/v1/receipts/export?before=${foreign?.call_id}`;
    expect((await stage.ask(path, { as: 'other' })).status).toBe(400);
  });

  test('as CSV has one line per receipt, and no cell that is a formula', async () => {
    const response = await stage.ask('/v1/receipts/export?format=csv', { as: 'admin' });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="receipts.csv"');
    expect(response.headers.get('link')).toBeNull();
    const [head = '', ...rows] = (await response.text()).trimEnd().split('\r\n');
    expect(head.split(',').slice(0, 4)).toEqual(['call_id', 'started_at', 'caller', 'skill']);
    expect(rows).toHaveLength((await list('', 'admin')).length);
    expect(rows.join('\n')).toContain('filesystem: read /etc/hostname');
  });

  test('comes in parts that together are the whole', async () => {
    const { receipt } = (await lines('', 'admin'))[1]!;
    const rest = await lines(`before=${receipt.call_id}`, 'admin');
    expect(rest.map((one) => one.receipt)).toEqual(
      (await lines('', 'admin')).slice(2).map((one) => one.receipt),
    );
  });
});

describe('an export of more than one answer holds', () => {
  test('names the address of the rest, and nothing is lost or doubled', async () => {
    const [sample] = stage.runtime.audit.list({ limit: 1 });
    for (let n = 0; n < MAX_EXPORTED; n++) {
      const call_id = `01ZZZZZZZZZZZZZZZZZZ${String(n).padStart(6, '0')}`;
      stage.runtime.audit.append({ ...sample!.receipt, call_id, caller: 'http:hundreds:of' });
    }
    const ids: string[] = [];
    let path: string | undefined = '/v1/receipts/export?tenant=hundreds&format=jsonl';
    let answers = 0;
    for (; path !== undefined && answers < 5; answers++) {
      const response: Response = await stage.ask(path, { as: 'admin' });
      const found = (await response.text()).split('\n').filter(Boolean);
      ids.push(...found.map((line) => (JSON.parse(line) as Stored).receipt.call_id));
      path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(answers).toBe(2);
    expect(new Set(ids).size).toBe(MAX_EXPORTED);
    expect(ids).toHaveLength(MAX_EXPORTED);
  });
});

describe('a cell of CSV', () => {
  /** Reads one line as RFC 4180 says. */
  const cellsOf = (line: string): string[] =>
    [...line.replace(/\r\n$/, ',').matchAll(/(?:"((?:[^"]|"")*)"|([^",]*)),/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
    );

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '＝1'])(
    'never begins as a formula: %j',
    (text) => {
      const [cell = ''] = cellsOf(csvLine([text]));
      expect(cell.startsWith("'")).toBe(true);
    },
  );

  test('keeps numbers and plain text as they are', () => {
    expect(csvLine([1.5, 'a/b', undefined, 'x, "y"'])).toBe('1.5,a/b,,"x, ""y"""\r\n');
  });

  test('stays one cell on one line, whatever it contains', () => {
    assert(
      property(array(string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (texts) => {
        const line = csvLine(texts);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        const cells = cellsOf(line);
        expect(cells).toHaveLength(texts.length);
        for (const cell of cells) expect(cell).not.toMatch(/^\s*[=+\-@]/);
      }),
    );
  });
});
