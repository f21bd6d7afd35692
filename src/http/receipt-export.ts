/**
 * Receipts as JSON lines or CSV. Tenants see what they see in the list; nobody gets kept parameters or results, which can
 * be personal data.
 *
 * @module
 */
import type { Context } from 'hono';
import { printableJson, printableLine, type StoredReceipt } from '../inside.ts';
import type { Identity } from './access.ts';
import { exportReceipts, filterOf, visibleReceipt, type VisibleReceipt } from './receipts.ts';
import type { ExportFormat, ExportQuery } from './request-schemas.ts';
import type { Service } from './service.ts';

const TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

interface ExportRequest {
  identity: Identity;
  query: ExportQuery;
}

export async function answerExport(
  c: Context,
  service: Service,
  { identity, query }: ExportRequest,
): Promise<Response> {
  const { format, ...filter } = query;
  const { pages, older } = await exportReceipts(service.runtime.audit, identity, filterOf(filter));
  const leave = service.streams.enter(identity.tenant);
  c.header('Content-Type', TYPES[format]);
  c.header('Content-Disposition', `attachment; filename="receipts.${format}"`);
  if (older) c.header('Link', `<${nextPath(query, older.receipt.call_id)}>; rel="next"`);
  // The client may hang up before the first part is read.
  c.req.raw.signal.addEventListener('abort', leave);
  const show = (one: StoredReceipt): VisibleReceipt =>
    withoutContent(visibleReceipt(one, identity, service.folders));
  const isAdmin = identity.scopes.has('admin');
  return c.body(
    streamOf(format === 'csv' ? csvText(pages, { show, isAdmin }) : jsonText(pages, show), leave),
  );
}

type Show = (one: StoredReceipt) => VisibleReceipt;
type Pages = AsyncIterable<StoredReceipt[]>;

async function* jsonText(pages: Pages, show: Show): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((one) => `${printableJson(show(one))}\n`).join('');
}

async function* csvText(
  pages: Pages,
  { show, isAdmin }: { show: Show; isAdmin: boolean },
): AsyncGenerator<string> {
  const columns = isAdmin ? [...COLUMNS, ...ADMIN_COLUMNS] : COLUMNS;
  yield csvLine(columns.map(([name]) => name));
  for await (const page of pages) {
    const rows = page.map(show);
    yield rows.map((row) => csvLine(columns.map(([, cell]) => cell(row)))).join('');
  }
}

/** A failure breaks the connection, so that nobody takes a part for the whole. */
function streamOf(parts: AsyncGenerator<string>, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { value, done } = await parts.next();
        if (done !== true) return controller.enqueue(encoder.encode(value));
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    cancel: async () => {
      onEnd();
      await parts.return(undefined);
    },
  });
}

function nextPath(query: ExportQuery, before: string): string {
  const set = Object.entries({ ...query, before }).filter(([, value]) => value !== undefined);
  return `/v1/receipts/export?${new URLSearchParams(set as [string, string][]).toString()}`;
}

function withoutContent({ receipt, ...rest }: VisibleReceipt): VisibleReceipt {
  const { params: _params, result: _result, ...kept } = receipt;
  return { ...rest, receipt: kept };
}

type Cell = string | number | undefined;
type Column = readonly [name: string, cell: (row: VisibleReceipt) => Cell];

type Receipt = VisibleReceipt['receipt'];
type OwnColumn = { [Key in keyof Receipt]-?: Receipt[Key] extends Cell ? Key : never }[keyof Receipt];

/** Columns that are named like their key in the receipt. */
function own(...names: readonly OwnColumn[]): Column[] {
  return names.map((name) => [name, ({ receipt }) => receipt[name]]);
}

const COLUMNS: readonly Column[] = [
  ...own('call_id', 'started_at', 'caller'),
  ['skill', ({ receipt }) => receipt.skill.name],
  ['version', ({ receipt }) => receipt.skill.version],
  ['digest', ({ receipt }) => receipt.skill.digest],
  ...own('origin', 'lock'),
  ['mode', ({ receipt }) => receipt.execution?.mode],
  ['wall', ({ receipt }) => receipt.execution?.wall],
  ['engine', ({ receipt }) => receipt.execution?.engine],
  ...own('code', 'limit', 'message'),
  ['wall_ms', ({ receipt }) => receipt.usage.wall_ms],
  ['cpu_ms', ({ receipt }) => receipt.usage.cpu_ms],
  ['memory_peak_bytes', ({ receipt }) => receipt.usage.memory_peak_bytes],
  ['output_bytes', ({ receipt }) => receipt.usage.output_bytes],
  ...own('denied_count'),
  ['denied', ({ receipt }) => eventsText(receipt.denied)],
  ['used', ({ receipt }) => eventsText(receipt.used)],
  ...own('grant_digest', 'params_digest', 'result_digest'),
];

const ADMIN_COLUMNS: readonly Column[] = [
  ['seq', ({ seq }) => seq],
  ['hash', ({ hash }) => hash],
];

function eventsText(events: readonly { capability: string; asked: string }[]): string {
  return events.map(({ capability, asked }) => `${capability}: ${asked}`).join('; ');
}

/** Beginnings that a spreadsheet takes for a formula, even in full width and after blanks. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/** One line of CSV (RFC 4180), in which no cell is a formula, spans lines, or controls a terminal. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell = ''): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${printableLine(cell)}` : printableLine(cell);
  return /[",;']|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
