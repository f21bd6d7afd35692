/**
 * A report as text.
 *
 * @module
 */
import type { MachineFacts } from './machine.ts';
import type { BenchReport } from './run-bench.ts';
import type { Row } from './statistics.ts';
import type { Target } from './targets.ts';
import type { Throughput } from './throughput.ts';

export function formatReport(report: BenchReport): string {
  return [
    formatMachine(report.machine),
    ...report.jobs.flatMap(({ job, rows }) => ['', job, formatRows(rows, report.peer)]),
    '',
    formatCrowds(report),
    '',
    ...report.targets.map(formatTarget),
  ].join('\n');
}

export function formatMachine(machine: MachineFacts): string {
  return [
    `${machine.cores} cores, ${machine.cpu}, ${machine.memory}, Linux ${machine.kernel}, Node ${machine.node}`,
    machine.cell,
    `Load at start ${machine.loadAtStart.toFixed(1)}, at end ${machine.loadAtEnd.toFixed(1)}. Times in ms, call to result.`,
  ].join('\n');
}

function formatRows(rows: readonly Row[], peer: string | undefined): string {
  const plain = rows[0]?.median ?? NaN;
  const other = rows.find((row) => row.name === peer)?.median;
  const head = ['', 'n', 'median', 'p95', 'min', 'to plain', ...(other === undefined ? [] : ['to peer'])];
  return columns([
    head,
    ...rows.map((row) => [
      row.name,
      String(row.n),
      ...[row.median, row.p95, row.min].map((ms) => ms.toFixed(2)),
      ratio(row.median, plain),
      ...(other === undefined ? [] : [ratio(row.median, other)]),
    ]),
  ]);
}

function formatCrowds({ crowds, cellBytes }: BenchReport): string {
  const memory = cellBytes === undefined ? 'not readable here' : `${(cellBytes / 1024 ** 2).toFixed(1)} MiB`;
  return [...crowds.map(formatCrowd), `A waiting cell: ${memory} (Pss)`].join('\n');
}

function formatCrowd({ callers, callsPerSecond, medianMs, p99Ms, failed, starts }: Throughput): string {
  const counts = Object.entries(starts).map(([start, count]) => `${count} ${start}`);
  return (
    `${callers} callers at once: ${callsPerSecond.toFixed(0)} calls/s, median ` +
    `${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${failed} failed (${counts.join(', ')})`
  );
}

export function formatTarget({ aim, met, found }: Target): string {
  const verdict = met === undefined ? '       ' : met ? 'met    ' : 'NOT MET';
  return `${verdict}  ${aim}: ${found}`;
}

function ratio(value: number, base: number): string {
  return `${(value / base).toFixed(2)}x`;
}

/** Names are left-aligned, figures right-aligned. */
export function columns(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const pad = (cell: string, at: number): string =>
    at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  return rows.map((row) => row.map(pad).join('  ')).join('\n');
}
