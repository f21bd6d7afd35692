/**
 * A report on growth as text.
 *
 * @module
 */
import { columns, formatMachine } from '../runner/table.ts';
import type { GrowthReport } from './run-growth.ts';
import type { CallsOfKind } from './skills.ts';

const MIB = 1024 ** 2;

export function formatGrowthReport(report: GrowthReport): string {
  return [
    formatMachine(report.machine),
    `Callers of one skill\n${formatCallers(report)}`,
    `Skills in one runtime, called at random, one call at a time\n${formatSkills(report)}`,
    `Python in Wasm, data in the module body\n${formatImages(report)}`,
    `A component, padded with functions that are never called\n${formatSizes(report)}`,
  ].join('\n\n');
}

function formatCallers({ callers }: GrowthReport): string {
  return columns([
    ['', 'callers', 'calls/s', 'p50', 'p99', 'failed'],
    ...callers.map(({ engine, callers, callsPerSecond, p50Ms, p99Ms, failed }) => [
      engine,
      String(callers),
      callsPerSecond.toFixed(0),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      String(failed),
    ]),
  ]);
}

function formatSkills({ skills }: GrowthReport): string {
  const latency = ({ calls, p50Ms, p99Ms }: CallsOfKind): string[] => [
    String(calls),
    p50Ms?.toFixed(2) ?? '',
    p99Ms?.toFixed(2) ?? '',
  ];
  return columns([
    [
      '',
      'skills',
      'warm',
      'p50',
      'p99',
      'started',
      'p50',
      'p99',
      'processes',
      'MiB of cells',
      'MiB of the caller',
    ],
    ...skills.map((row) => [
      row.engine,
      String(row.skills),
      ...latency(row.warm),
      ...latency(row.started),
      String(row.processes),
      mebibytes(row.cellBytes),
      mebibytes(row.hostBytes),
    ]),
  ]);
}

function formatImages({ images }: GrowthReport): string {
  return columns([
    ['MiB', 'first call', 'p50', 'p99', 'CPU per call', 'MiB per process'],
    ...images.map(({ mebibytes: size, firstCallMs, medianMs, p99Ms, cpu, cellBytes }) => [
      String(size),
      firstCallMs.toFixed(0),
      medianMs.toFixed(2),
      p99Ms.toFixed(2),
      (cpu.cellMs + cpu.hostMs).toFixed(2),
      mebibytes(cellBytes),
    ]),
  ]);
}

function formatSizes({ sizes }: GrowthReport): string {
  return columns([
    ['KiB', 'install', 'first call', 'p50', 'p99'],
    ...sizes.map(({ bytes, installMs, coldMs, warmMs, warmP99Ms }) => [
      (bytes / 1024).toFixed(0),
      installMs.toFixed(0),
      coldMs.toFixed(0),
      warmMs.toFixed(3),
      warmP99Ms.toFixed(3),
    ]),
  ]);
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'not readable' : (bytes / MIB).toFixed(0);
}
