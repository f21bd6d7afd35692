/**
 * A report on Wasm cells as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../table.ts';
import type { BurstRow } from './bursts.ts';
import { PEER_NOTES } from './peers.ts';
import type { WasmReport } from './run-wasm-bench.ts';

export function formatWasmReport(report: WasmReport): string {
  const blocks = [
    formatMachine(report.machine),
    `skills/text/word_stats_*; every call in a fresh instance\n${formatRows(report.rows)}`,
    formatNotes(report.rows),
    `64 callers at once, all in jails\n${formatCrowds(report)}`,
    `The first component, padded with functions that are never called\n${formatSizes(report)}`,
    `Counting fuel on a long text\n${formatFuel(report)}`,
    report.targets.map(formatTarget).join('\n'),
  ];
  return blocks.join('\n\n');
}

/** Ratios are to the first row. */
function formatRows(rows: readonly BurstRow[]): string {
  const ours = rows[0]?.median ?? NaN;
  return columns([
    ['', 'n', 'median', 'p95', 'p99', 'min', 'rested', 'to ours'],
    ...rows.map((row) => [
      row.name,
      String(row.n),
      ...[row.median, row.p95, row.p99, row.min, row.rested].map((ms) => ms.toFixed(3)),
      `${(row.median / ours).toFixed(2)}x`,
    ]),
  ]);
}

function formatNotes(rows: readonly BurstRow[]): string {
  const notes: Readonly<Record<string, string>> = PEER_NOTES;
  return [
    'Back-to-back calls; "rested" is the median of first calls after a pause. Peers are timed in their own processes.',
    ...rows.filter(({ name }) => notes[name]).map(({ name }) => `${name}: ${notes[name]}.`),
  ].join('\n');
}

function formatCrowds({ crowds, machine }: WasmReport): string {
  return columns([
    ['', 'calls/s', 'per core', 'median', 'p99', 'failed', 'MiB per warm cell (Pss)'],
    ...crowds.map(({ language, throughput, cellBytes }) => [
      language,
      throughput.callsPerSecond.toFixed(0),
      (throughput.callsPerSecond / machine.cores).toFixed(0),
      throughput.medianMs.toFixed(1),
      throughput.p99Ms.toFixed(1),
      String(throughput.failed),
      cellBytes === undefined ? 'not readable' : (cellBytes / 1024 ** 2).toFixed(1),
    ]),
  ]);
}

function formatSizes({ sizes }: WasmReport): string {
  return columns([
    ['KiB', 'install', 'first call', 'median after it'],
    ...sizes.map(({ bytes, installMs, coldMs, warmMs }) => [
      (bytes / 1024).toFixed(0),
      installMs.toFixed(0),
      coldMs.toFixed(0),
      warmMs.toFixed(3),
    ]),
  ]);
}

function formatFuel({ fuel }: WasmReport): string {
  return columns([
    ['', 'without', 'with', 'more'],
    ...fuel.map(({ language, plainMs, meteredMs, overhead }) => [
      language,
      plainMs.toFixed(3),
      meteredMs.toFixed(3),
      `${(overhead * 100).toFixed(0)} %`,
    ]),
  ]);
}
