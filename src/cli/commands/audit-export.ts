/**
 * `skillcell audit export`: receipts as JSON lines or OTLP logs, to a file, to stdout or to a collector.
 *
 * @module
 */
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { SkillError, type StoredReceipt, isLoopback } from '../../inside.ts';
import { otlpLogs } from '../otlp-logs.ts';
import { printNote } from '../output.ts';
import { filterOf, type FilterFlags } from '../receipt-filter.ts';
import { openLog } from './audit.ts';

/** The standard variable of OpenTelemetry: a command line would show tokens to every user of the machine. */
const HEADERS_VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS';
const SEND_MS = 30_000;

export interface ExportFlags extends FilterFlags {
  format: 'jsonl' | 'otlp';
  out?: string;
  to?: string;
  content?: boolean;
}

export async function auditExport(flags: ExportFlags): Promise<number> {
  const url = flags.to === undefined ? undefined : collectorUrl(flags.to);
  if (url && (flags.out !== undefined || flags.format !== 'otlp'))
    throw new SkillError('usage', '--to sends OTLP logs, and nothing else', {
      fix: 'Pass --format otlp with --to, and omit --out.',
    });
  const filter = filterOf(flags);
  using log = openLog();
  let count = 0;
  await using sink = url ? collectorSink(url) : streamSink(flags.out);
  for (const page of log?.pages(filter) ?? []) {
    const receipts = page.map((one) => (flags.content ? one : withoutContent(one)));
    if (receipts.length === 0) continue;
    await sink.write(flags.format === 'otlp' ? [otlpLogs(receipts)] : receipts, receipts);
    count += receipts.length;
  }
  printNote(`Exported ${count} receipts.`);
  return 0;
}

interface Sink extends AsyncDisposable {
  write(lines: readonly unknown[], receipts: readonly StoredReceipt[]): Promise<void>;
}

/** Content can be personal data, so it is exported only on request. */
function withoutContent({ receipt, ...rest }: StoredReceipt): StoredReceipt {
  const { params: _params, result: _result, ...kept } = receipt;
  return { ...rest, receipt: kept };
}

function streamSink(file: string | undefined): Sink {
  const fd = file === undefined || file === '-' ? undefined : openNew(file);
  return {
    write: async (lines) => {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      if (fd !== undefined) writeFileSync(fd, text);
      else if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    },
    [Symbol.asyncDispose]: async () => {
      if (fd !== undefined) closeSync(fd);
    },
  };
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SkillError('usage', `Cannot write "${file}": ${reason}`, {
      fix: 'Pass the path of a new file in a folder that you can write to.',
      cause,
    });
  }
}

function collectorSink(url: URL): Sink {
  const headers = { 'content-type': 'application/json', ...headersFrom(process.env[HEADERS_VARIABLE]) };
  return {
    write: async ([body], receipts) => {
      const reason = await post(url, headers, JSON.stringify(body));
      if (reason === undefined) return;
      const from = receipts[0]?.receipt.started_at ?? '';
      throw new SkillError('usage', `The collector at "${url.origin}" refused the receipts: ${reason}`, {
        fix: `Correct the collector, then export the rest with --since ${from}.`,
      });
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function post(url: URL, headers: Record<string, string>, body: string): Promise<string | undefined> {
  try {
    // A redirect could lead the receipts and the header to another host.
    const signal = AbortSignal.timeout(SEND_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
    await response.body?.cancel();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `name=value,name=value`, each value percent-encoded. */
function headersFrom(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

function collectorUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  const isFine = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(host));
  if (url && isFine && url.username === '' && url.password === '') return url;
  throw new SkillError('usage', `--to ${JSON.stringify(text)} is not the address of a collector`, {
    fix: `Pass an https address without a password, such as --to https://collector.example.com/v1/logs; http works only for this machine. Put a token into ${HEADERS_VARIABLE}.`,
  });
}
