/**
 * Counters and histograms in the Prometheus text format.
 *
 * @module
 */

type Labels = Readonly<Record<string, string>>;

/** Upper bounds of the buckets in seconds; the last bucket is unbounded. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class Counter {
  readonly #values = new Map<string, number>();

  add(labels: Labels, by = 1): void {
    const key = write(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  lines(name: string): string[] {
    return [...this.#values].map(([labels, value]) => `${name}${labels} ${value}`);
  }
}

interface Series {
  labels: Labels;
  counts: number[];
  sum: number;
  count: number;
}

export class Histogram {
  readonly #observed = new Map<string, Series>();

  observe(labels: Labels, seconds: number): void {
    const key = write(labels);
    const known = this.#observed.get(key) ?? { labels, counts: SECONDS.map(() => 0), sum: 0, count: 0 };
    this.#observed.set(key, known);
    SECONDS.forEach((edge, at) => {
      if (seconds <= edge) known.counts[at] = (known.counts[at] ?? 0) + 1;
    });
    known.sum += seconds;
    known.count++;
  }

  lines(name: string): string[] {
    return [...this.#observed.values()].flatMap((observed) => linesOf(name, observed));
  }
}

function linesOf(name: string, { labels, counts, sum, count }: Series): string[] {
  const bucket = (edge: string): string => `${name}_bucket${write({ ...labels, le: edge })}`;
  const buckets = SECONDS.map((edge, at) => `${bucket(String(edge))} ${counts[at]}`);
  const total = `${bucket('+Inf')} ${count}`;
  return [...buckets, total, `${name}_sum${write(labels)} ${sum}`, `${name}_count${write(labels)} ${count}`];
}

export interface Metric {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  lines: string[];
}

export function formatMetrics(metrics: readonly Metric[]): string {
  const blocks = metrics.map(({ name, help, type, lines }) =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n'),
  );
  return `${blocks.join('\n')}\n`;
}

function write(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
