/**
 * The report of a load as text, and whether it is good enough.
 *
 * @module
 */
import type { KindReport, LoadReport } from './run-load.ts';

/** How many times longer the fast skill may take at its worst under full load. */
const MOST_TIMES_SLOWER = 5;
/** Memory of the service that grows by more than this over the second half is not flat. */
const MOST_GROWTH = 1.15;

export function verdictsOf(report: LoadReport): { aim: string; met: boolean; figure: string }[] {
  const { alone, mixed, memory, cellsKilled, serviceKilled } = report;
  const slower = p99Of(mixed) / p99Of(alone);
  const growth = memory.late / memory.early;
  const wrong = report.wrong.length + cellsKilled.wrong.length;
  const lost = report.lost.length + cellsKilled.lost.length;
  return [
    { aim: 'no wrong answer', met: wrong === 0, figure: String(wrong) },
    { aim: 'no lost answer', met: lost === 0, figure: String(lost) },
    {
      aim: 'no process left behind',
      met: report.leaked + serviceKilled.leaked === 0,
      figure: `${report.leaked} after the end, ${serviceKilled.leaked} after kill -9`,
    },
    {
      aim: `p99 of the fast skill under load at most ${MOST_TIMES_SLOWER} times its unloaded p99`,
      met: slower <= MOST_TIMES_SLOWER,
      figure: `${p99Of(mixed).toFixed(1)} ms against ${p99Of(alone).toFixed(1)} ms: ${slower.toFixed(1)} times`,
    },
    {
      aim: 'the memory of the service stays flat',
      met: growth <= MOST_GROWTH,
      figure: `${memory.early.toFixed(0)} MiB, then ${memory.late.toFixed(0)} MiB`,
    },
    {
      aim: 'a receipt for every accepted call after kill -9',
      met: serviceKilled.accepted > 0 && serviceKilled.withReceipt === serviceKilled.accepted,
      figure: `${serviceKilled.withReceipt} of ${serviceKilled.accepted}, ${serviceKilled.interrupted} interrupted`,
    },
    { aim: 'audit verify passes', met: report.isChainIntact, figure: report.isChainIntact ? 'yes' : 'no' },
  ];
}

export function formatLoadReport(report: LoadReport): string {
  const { settings, alone, mixed, refused, cellsKilled } = report;
  const rows = mixed.map((row) =>
    line(
      row,
      alone.find(({ name }) => name === row.name),
    ),
  );
  return [
    `${settings.clients} clients for ${settings.seconds} s; ${refused} calls were rejected with 429.`,
    `${cellsKilled.kills} cells were killed during calls; ${cellsKilled.right} other responses in that time were right.`,
    '',
    'skill       calls      p50 ms      p99 ms   alone: p50       p99',
    ...rows,
    '',
    ...verdictsOf(report).map(({ aim, met, figure }) => `${met ? 'met   ' : 'MISSED'}  ${aim} (${figure})`),
    ...[...report.wrong, ...report.lost, ...cellsKilled.wrong, ...cellsKilled.lost].slice(0, 10),
  ].join('\n');
}

function line({ name, calls, p50, p99 }: KindReport, alone: KindReport | undefined): string {
  const figures = [p50, p99, alone?.p50, alone?.p99].map((value) => (value?.toFixed(1) ?? '').padStart(11));
  return `${name.padEnd(10)}${String(calls).padStart(7)} ${figures.join(' ')}`;
}

function p99Of(rows: readonly KindReport[]): number {
  return rows.find(({ name }) => name === 'fast')?.p99 ?? Number.NaN;
}
