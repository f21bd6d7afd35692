/**
 * A report on Python in Wasm as text.
 *
 * @module
 */
import { columns, formatMachine, formatTarget } from '../table.ts';
import type { BurstRow } from '../wasm/bursts.ts';
import { PYTHON_PEER_NOTES } from './peers.ts';
import type { PythonWasmReport } from './run-python-wasm-bench.ts';

const MIB = 1024 ** 2;

export function formatPythonWasmReport(report: PythonWasmReport): string {
  const blocks = [
    formatMachine(report.machine),
    ...report.jobs.map(({ job, rows }) => `${job}, a fresh Python for every call\n${formatRows(rows)}`),
    formatNotes(report.jobs.flatMap(({ rows }) => rows)),
    formatStart(report),
    formatCrowd(report),
    `The first skill with more in its module body\n${formatImages(report)}`,
    `CPU-bound work, native CPython and Wasm\n${formatKernels(report)}`,
    report.targets.map(formatTarget).join('\n'),
  ];
  return blocks.join('\n\n');
}

/** Ratios are to the first row. */
function formatRows(rows: readonly BurstRow[]): string {
  const ours = rows[0]?.median ?? NaN;
  return columns([
    ['', 'n', 'median', 'p95', 'min', 'rested', 'to ours'],
    ...rows.map((row) => [
      row.name,
      String(row.n),
      ...[row.median, row.p95, row.min, row.rested].map((ms) => ms.toFixed(2)),
      `${(row.median / ours).toFixed(2)}x`,
    ]),
  ]);
}

function formatNotes(rows: readonly BurstRow[]): string {
  const names = new Set(rows.map(({ name }) => name));
  return [
    'Back-to-back calls; "rested" is the median of first calls after a pause. Peers are timed in their own processes.',
    ...Object.entries(PYTHON_PEER_NOTES)
      .filter(([name]) => names.has(name))
      .map(([name, note]) => `${name}: ${note}.`),
  ].join('\n');
}

function formatStart({ start }: PythonWasmReport): string {
  return [
    `First use on a machine, engine prepared: ${(start.prepareMs / 1000).toFixed(1)} s, ` +
      `${(start.engineBytes / MIB).toFixed(1)} MiB on disk.`,
    `A new program after that: load ${start.loadMs.toFixed(0)} ms, first call ${start.firstCallMs.toFixed(0)} ms, ` +
      `second call ${start.secondCallMs.toFixed(1)} ms.`,
  ].join('\n');
}

function formatCrowd({ crowd: { cpu, tightMs, throughput, cellBytes } }: PythonWasmReport): string {
  return [
    `${cpu.calls} calls back to back, one caller: median ${tightMs.toFixed(2)} ms`,
    `CPU per call of these: ${cpu.cellMs.toFixed(2)} ms in the cell, ${cpu.hostMs.toFixed(2)} ms in the caller`,
    `${throughput.callers} callers at once: ${throughput.callsPerSecond.toFixed(0)} calls/s, median ` +
      `${throughput.medianMs.toFixed(1)} ms, p99 ${throughput.p99Ms.toFixed(1)} ms, ${throughput.failed} failed`,
    `A warm process: ${mebibytes(cellBytes)} (Pss)`,
  ].join('\n');
}

function formatImages({ images }: PythonWasmReport): string {
  return columns([
    ['', 'first call', 'median', 'p95', 'CPU per call', 'per process (Pss)'],
    ...images.map(({ image, firstCallMs, medianMs, p95Ms, cpu, cellBytes }) => [
      image,
      firstCallMs.toFixed(0),
      medianMs.toFixed(2),
      p95Ms.toFixed(2),
      (cpu.cellMs + cpu.hostMs).toFixed(2),
      mebibytes(cellBytes),
    ]),
  ]);
}

function formatKernels({ kernels }: PythonWasmReport): string {
  return columns([
    ['', 'native', 'Wasm', 'ratio', 'Wasm, first call'],
    ...kernels.map(({ kernel, nativeMs, wasmMs, ratio, wasmFirstMs }) => [
      kernel,
      nativeMs.toFixed(1),
      wasmMs.toFixed(1),
      `${ratio.toFixed(2)}x`,
      wasmFirstMs.toFixed(1),
    ]),
    ['geometric mean', '', '', `${geometricMean(kernels.map(({ ratio }) => ratio)).toFixed(2)}x`, ''],
  ]);
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'not readable here' : `${(bytes / MIB).toFixed(1)} MiB`;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
