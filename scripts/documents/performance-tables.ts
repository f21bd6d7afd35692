/**
 * The tables of `docs/performance.md`.
 *
 * @module
 */
import { judgeAims, type Verdicts } from '../../bench/aims.ts';
import type { GrowthReport } from '../../bench/growth/run-growth.ts';
import type { CallsOfKind } from '../../bench/growth/skills.ts';
import type { OurThroughput, PeerThroughput } from '../../bench/peer-throughput.ts';
import { newestResult, savedKinds } from '../../bench/saved-results.ts';
import type { Target } from '../../bench/runner/targets.ts';
import { duration, mebibytes } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

/** The only bench whose reports have no kind. */
const JAILS = 'subprocess';
/** Counts of callers in the table; the plots have all. */
const SHOWN_CALLERS: readonly number[] = [1, 8, 64];

interface Judged {
  machine: { date: string };
  targets?: Target[];
}

/** The newest report of every bench, by the name of the bench. */
function savedReports(): [bench: string, report: Judged][] {
  return savedKinds().map((kind) => [kind ?? JAILS, newestResult(kind)]);
}

export function savedVerdicts(): Verdicts {
  return Object.fromEntries(savedReports().map(([bench, { targets = [] }]) => [bench, targets]));
}

/** What stands in the way is only said of what is missed. */
export function formatSpeedAims(verdicts: Verdicts = savedVerdicts()): string {
  return table([
    ['', 'aim', 'measured', '', 'what stands in the way'],
    ...judgeAims(verdicts).map(({ aim: { what, aim, obstacle }, met, found }) => [
      what,
      aim,
      found,
      met === undefined ? 'not measured' : met ? 'met' : '**missed**',
      met === false ? obstacle : '',
    ]),
  ]);
}

/** Only of the reports that judged an aim. */
export function formatAimDates(): string {
  const dates = savedReports()
    .filter(([bench, { targets = [] }]) => judgeAims({ [bench]: targets }).some(({ found }) => found !== ''))
    .map(([bench, { machine }]) => `${bench} on ${machine.date.slice(0, 10)}`);
  return dates.length === 0 ? 'No saved report judged them.' : `Measured by the benches ${dates.join(', ')}.`;
}

export function formatGrowthCallers({ callers }: GrowthReport): string {
  const engines = [...new Set(callers.map(({ engine }) => engine))];
  const shown = SHOWN_CALLERS.filter((count) => callers.some((row) => row.callers === count));
  const cell = (engine: string, count: number): string => {
    const row = callers.find((one) => one.engine === engine && one.callers === count);
    if (!row) return '';
    const failed = row.failed > 0 ? `, ${row.failed} failed` : '';
    return `${row.callsPerSecond.toFixed(0)}/s, p50 ${duration(row.p50Ms)}, p99 ${duration(row.p99Ms)}${failed}`;
  };
  return table([
    ['', ...shown.map((count) => (count === 1 ? '1 caller' : `${count} callers`))],
    ...engines.map((engine) => [engine].concat(shown.map((count) => cell(engine, count)))),
  ]);
}

export function formatGrowthSkills({ skills }: GrowthReport): string {
  const latency = ({ calls, p50Ms, p99Ms }: CallsOfKind): string =>
    calls === 0 ? 'none' : `${calls}: p50 ${duration(p50Ms)}, p99 ${duration(p99Ms)}`;
  return table([
    [
      '',
      'skills',
      'calls that found a warm process',
      'calls that did not',
      'processes',
      'memory of all cells (Pss)',
    ],
    ...skills.map((row) => [
      row.engine,
      String(row.skills),
      latency(row.warm),
      latency(row.started),
      String(row.processes),
      mebibytes(row.cellBytes),
    ]),
  ]);
}

/** Ours first, then the peers of the same run. */
export function formatThroughputTable(
  ours: readonly OurThroughput[],
  peers: readonly PeerThroughput[] | undefined,
): string {
  const rows = [
    ...ours.map(({ name, throughput }) => ({ name: `**Skillcell**: ${name}`, note: '', throughput })),
    ...(peers ?? []),
  ];
  return table([
    ['', 'callers', 'calls/s', 'median', 'p99', ''],
    ...rows.map(({ name, note, throughput: { callers, callsPerSecond, medianMs, p99Ms } }) => [
      name,
      String(callers),
      callsPerSecond.toFixed(0),
      duration(medianMs),
      duration(p99Ms),
      note,
    ]),
  ]);
}
