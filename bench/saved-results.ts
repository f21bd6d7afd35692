/**
 * Reports that are kept: one file per day, machine and kind in `bench/results/`, so that what documents quote can be
 * looked up.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineFacts } from './runner/machine.ts';

const FOLDER = join(import.meta.dirname, 'results');

/** The kind is the end of the name; that of the bench of jails has none. */
export function saveResult(report: { machine: MachineFacts }, kind?: string): string {
  const { date, arch, cores } = report.machine;
  const ending = kind === undefined ? '' : `-${kind}`;
  const file = join(FOLDER, `${date.slice(0, 10)}-linux-${arch}-${cores}-cores${ending}.json`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, rounded, 2)}\n`);
  return file;
}

/** The report of that kind with the latest date. */
export function newestResult(kind?: string): { machine: MachineFacts } {
  const newest = newestResultIfAny(kind);
  if (!newest) throw new Error(`There is no report "${kind}" in ${FOLDER}`);
  return newest;
}

export function newestResultIfAny(kind?: string): { machine: MachineFacts } | undefined {
  const ending = kind === undefined ? '-cores.json' : `-cores-${kind}.json`;
  const reports = readdirSync(FOLDER)
    .filter((name) => name.endsWith(ending))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as { machine: MachineFacts });
  return reports.toSorted((a, b) => a.machine.date.localeCompare(b.machine.date)).at(-1);
}

/** Every kind of which there is a report. */
export function savedKinds(): (string | undefined)[] {
  const kinds = readdirSync(FOLDER).map((name) => /-cores(?:-([\w-]+))?\.json$/.exec(name)?.[1]);
  return [...new Set(kinds)];
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
