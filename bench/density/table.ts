/**
 * The report of the soak as text.
 *
 * @module
 */
import { formatMachine, formatTarget } from '../runner/table.ts';
import type { DensityReport, KindRow } from './run-density-bench.ts';

const MIB = 1024 * 1024;

export function formatDensityReport(report: DensityReport): string {
  const { memory, hostCpu } = report;
  const mib = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`;
  return [
    formatMachine(report.machine),
    '',
    `${report.skills} skills, each called about once a minute for ${report.minutes} minutes; ${report.failed} calls failed.`,
    '',
    'kind             calls  median     p95     p99     max   where cells came from',
    ...report.rows.map(line),
    '',
    'minute   calls     p99   cells had ended   memory in all',
    ...report.perMinute.map(
      ({ minute, calls, p99Ms, ended, bytes }) =>
        `${String(minute).padStart(6)} ${String(calls).padStart(7)} ${p99Ms.toFixed(1).padStart(7)} ${String(ended).padStart(17)} ${mib(bytes).padStart(15)}`,
    ),
    '',
    'the first call of each skill',
    ...report.firstCalls.map(line),
    '',
    `Memory in all (Pss): median ${mib(memory.medianBytes)}, at most ${mib(memory.maxBytes)}, of it the host ${mib(memory.hostBytes)}; ` +
      `at most ${memory.maxProcesses} processes.`,
    `CPU time of the host: ${(hostCpu * 100).toFixed(1)} % of a core.`,
    '',
    ...report.targets.map(formatTarget),
  ].join('\n');
}

function line({ kind, calls, medianMs, p95Ms, p99Ms, maxMs, starts }: KindRow): string {
  const figures = [medianMs, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1).padStart(7)).join(' ');
  const from = Object.entries(starts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([start, count]) => `${count} ${start}`);
  return `${kind.padEnd(16)}${String(calls).padStart(6)} ${figures}   ${from.join(', ')}`;
}
