/**
 * Calls, latency and denials over time.
 *
 * @module
 */
import { get } from '../api.ts';
import { chart, type Series } from '../charts.ts';
import { h, replace } from '../dom.ts';
import { axisTime, clock, ms } from '../format.ts';
import { details, heading, problemOf, table } from '../parts.ts';
import type { Bucket, Stats } from '../types.ts';
import type { View } from '../view.ts';

const RANGES: readonly [string, number][] = [
  ['15 minutes', 15],
  ['1 hour', 60],
  ['1 day', 1440],
  ['1 week', 10_080],
];
const BUCKETS = 48;

export const metricsView: View = async (page) => {
  const range = h(
    'select',
    { attrs: { 'aria-label': 'Time range' } },
    RANGES.map(([label, minutes]) => h('option', { attrs: { value: minutes } }, label)),
  );
  range.value = '60';
  const place = h('div', 'charts');
  replace(page, heading('Metrics', range), place);
  const show = async (): Promise<void> => {
    const stats = await get<Stats>(`/v1/stats?minutes=${range.value}&buckets=${BUCKETS}`);
    replace(place, totals(stats.buckets), charts(stats), dataTable(stats));
  };
  range.addEventListener('change', () => {
    show().catch((error: unknown) => replace(place, problemOf(error)));
  });
  await show();
};

function totals(buckets: Bucket[]): HTMLElement {
  const sum = (of: (bucket: Bucket) => number): number =>
    buckets.reduce((all, bucket) => all + of(bucket), 0);
  const slowest = Math.max(0, ...buckets.map(({ p95_ms }) => p95_ms ?? 0));
  const tile = (value: string, label: string, kind = ''): HTMLElement =>
    h('div', `tile ${kind}`, h('span', 'tile-value', value), h('span', 'muted small', label));
  const denied = sum((bucket) => bucket.denied);
  return h(
    'div',
    'tiles',
    tile(String(sum((bucket) => bucket.calls)), 'calls'),
    tile(String(sum((bucket) => bucket.failed)), 'failed'),
    tile(String(sum((bucket) => bucket.cancelled)), 'cancelled'),
    tile(String(denied), 'denied acts', denied > 0 ? 'bad' : ''),
    tile(ms(slowest), 'highest p95'),
  );
}

function charts({ buckets, from, to }: Stats): HTMLElement[] {
  const isLong = Date.parse(to) - Date.parse(from) > 12 * 3_600_000;
  const ends = [axisTime(from, isLong), axisTime(to, isLong)] as const;
  const counts = (title: string, series: readonly Series[]): HTMLElement =>
    chart({ title, kind: 'bars', ends, format: (value) => String(Math.round(value * 10) / 10), series });
  return [
    counts('Calls', [
      { name: 'all', tone: 'main', values: buckets.map(({ calls }) => calls) },
      { name: 'failed', tone: 'soft', values: buckets.map(({ failed }) => failed) },
    ]),
    chart({
      title: 'Latency',
      kind: 'lines',
      ends,
      format: ms,
      series: [
        { name: 'p95', tone: 'soft', values: buckets.map(({ p95_ms }) => p95_ms) },
        { name: 'p50', tone: 'main', values: buckets.map(({ p50_ms }) => p50_ms) },
      ],
    }),
    counts('Denials', [{ name: 'denied acts', tone: 'bad', values: buckets.map(({ denied }) => denied) }]),
  ];
}

function dataTable({ buckets, truncated }: Stats): HTMLElement {
  const rows = buckets
    .filter(({ calls }) => calls > 0)
    .map(({ at, calls, failed, cancelled, denied, p50_ms, p95_ms }) => [
      clock(at),
      calls,
      failed,
      cancelled,
      denied,
      ms(p50_ms ?? 0),
      ms(p95_ms ?? 0),
    ]);
  return details(
    'Show as table',
    truncated && h('p', 'muted', 'There were more calls; only the most recent ones are counted.'),
    table(['From', 'Calls', 'Failed', 'Cancelled', 'Denied', 'p50', 'p95'], rows),
  );
}
