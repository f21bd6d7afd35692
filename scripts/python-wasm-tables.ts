/**
 * The bench of Python in Wasm as Markdown tables.
 *
 * @module
 */
import { POOL } from '../bench/runner/ours.ts';
import { PLAIN } from '../bench/runner/plain.ts';
import type { BurstRow } from '../bench/runner/wasm/bursts.ts';
import { IN_JAIL } from '../bench/runner/python-wasm/ours.ts';
import { PYTHON_PEER_NAMES, PYTHON_PEER_NOTES } from '../bench/runner/python-wasm/peers.ts';
import type { PythonWasmReport } from '../bench/runner/python-wasm/run-python-wasm-bench.ts';
import { geometricMean } from '../bench/runner/python-wasm/table.ts';
import { table } from './skillware-table.ts';

const MIB = 1024 ** 2;
const NOTES: Readonly<Record<string, string>> = {
  [IN_JAIL]: 'fresh image, in our process and jail',
  [POOL]: 'native Python in an unused jailed process',
  ...PYTHON_PEER_NOTES,
};

/** Every row of the first job, with the second job's figures if it has that row too. */
export function formatCallsTable({ jobs }: PythonWasmReport): string {
  const [first, second] = jobs;
  const ours = first?.rows[0]?.median ?? NaN;
  const other = (name: string): string => {
    const median = second?.rows.find((row) => row.name === name)?.median;
    return median === undefined ? '' : `${precise(median)} ms`;
  };
  return table([
    ['', 'small skill, median', 'p95', 'to ours', 'prompt_rewriter', ''],
    ...(first?.rows ?? []).map(({ name, median, p95 }) => [
      name,
      `${precise(median)} ms`,
      `${precise(p95)} ms`,
      `${precise(median / ours)} ×`,
      other(name),
      NOTES[name] ?? '',
    ]),
  ]);
}

/** One paragraph for readers who skip the tables. */
export function formatPythonSummary({
  jobs: [first, second],
  crowd: { cpu },
  targets,
}: PythonWasmReport): string {
  const find = (name: string, rows = first?.rows): BurstRow | undefined =>
    rows?.find((row) => row.name === name);
  const median = (name: string): string => duration(find(name)?.median);
  const met = targets.filter((target) => target.met).length;
  return [
    `A fresh Python for a small skill takes ${median(IN_JAIL)} in the jail (95 of 100 calls at most`,
    `${duration(find(IN_JAIL)?.p95)}) and ${duration(cpu.cellMs + cpu.hostMs)} of CPU,`,
    `\`prompt_rewriter\` ${duration(find(IN_JAIL, second?.rows)?.median)}. In the same rounds: the pool of native`,
    `Python ${median(POOL)}, starting \`python3\` ${median(PLAIN)}, Pyodide from a snapshot`,
    `${median(PYTHON_PEER_NAMES.pyodideSnapshot)}, a cold Pyodide ${median(PYTHON_PEER_NAMES.pyodideCold)}.`,
    `${met} of ${targets.length} targets are met.`,
  ].join(' ');
}

export function formatPythonStart({ start }: PythonWasmReport): string {
  return table([
    ['', ''],
    ['first use on a machine: prepare the engine, first result', `${(start.prepareMs / 1000).toFixed(1)} s`],
    ['the prepared engine on disk', `${(start.engineBytes / MIB).toFixed(1)} MiB`],
    ['a new program after that: load and check the skill', `${start.loadMs.toFixed(0)} ms`],
    ['its first call, cell start included', `${start.firstCallMs.toFixed(0)} ms`],
    ['its second call', `${precise(start.secondCallMs)} ms`],
  ]);
}

export function formatCpuTable({ crowd: { cpu, throughput, cellBytes } }: PythonWasmReport): string {
  const calls = `${throughput.callsPerSecond.toFixed(0)} calls/s, median ${throughput.medianMs.toFixed(1)} ms, p99 ${throughput.p99Ms.toFixed(1)} ms`;
  return table([
    ['', ''],
    ['CPU per call in the cell, reset included', `${cpu.cellMs.toFixed(2)} ms`],
    ['CPU per call in the caller, receipt included', `${cpu.hostMs.toFixed(2)} ms`],
    [`${throughput.callers} callers at once`, calls],
    ['memory of a warm process (Pss)', mebibytes(cellBytes)],
  ]);
}

export function formatImagesTable({ images }: PythonWasmReport): string {
  return table([
    ['module body', 'first call', 'median', 'p95', 'CPU per call', 'memory (Pss)'],
    ...images.map(({ image, firstCallMs, medianMs, p95Ms, cpu, cellBytes }) => [
      image,
      `${firstCallMs.toFixed(0)} ms`,
      `${precise(medianMs)} ms`,
      `${precise(p95Ms)} ms`,
      `${(cpu.cellMs + cpu.hostMs).toFixed(1)} ms`,
      mebibytes(cellBytes),
    ]),
  ]);
}

export function formatKernelsTable({ kernels }: PythonWasmReport): string {
  const mean = geometricMean(kernels.map(({ ratio }) => ratio));
  return table([
    ['kernel', 'native', 'Wasm', 'ratio', 'Wasm, first call of a process'],
    ...kernels.map(({ kernel, nativeMs, wasmMs, ratio, wasmFirstMs }) => [
      kernel,
      `${nativeMs.toFixed(0)} ms`,
      `${wasmMs.toFixed(0)} ms`,
      `${ratio.toFixed(2)} ×`,
      `${wasmFirstMs.toFixed(0)} ms`,
    ]),
    ['geometric mean', '', '', `${mean.toFixed(2)} ×`, ''],
  ]);
}

export function formatTargetsTable({ targets }: PythonWasmReport): string {
  return table([
    ['target', 'measured', ''],
    ...targets.map(({ aim, found, met }) => [
      aim,
      found,
      met === undefined ? 'not measured' : met ? 'met' : 'missed',
    ]),
  ]);
}

export function duration(ms: number | undefined): string {
  if (ms === undefined) return 'not measured';
  return ms < 1000 ? `${precise(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Two significant digits, or all digits before the point. */
function precise(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

export function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'not readable' : `${(bytes / MIB).toFixed(1)} MiB`;
}
