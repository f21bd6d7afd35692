/**
 * The plots of the documents show what is in `bench/results/`, and are pictures that anyone can read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { savedPlots } from '../../scripts/doc-tables.ts';
import { PLOTS_FOLDER } from '../../scripts/documents/growth-plots.ts';
import { positionOn, tickLabel, ticksOf } from '../../scripts/documents/plot-axis.ts';
import { plotSvg, type Plot } from '../../scripts/documents/plot-svg.ts';
import { packageRoot } from '../../src/inside.ts';

const PLOT: Plot = {
  title: 'Latency <of> a & b',
  x: { label: 'callers', scale: 'log', ticks: [1, 2, 4] },
  y: { label: 'ms', scale: 'log' },
  series: [
    {
      name: 'p50',
      colour: 0,
      points: [
        [1, 0.5],
        [2, 5],
        [4, 50],
      ],
    },
    {
      name: 'p99',
      colour: 1,
      dashed: true,
      points: [
        [1, 1],
        [4, 99],
      ],
    },
  ],
  note: 'a machine, a day',
};

const committed = (file: string): string => readFileSync(join(packageRoot(), PLOTS_FOLDER, file), 'utf8');

test('the committed plots are what the newest report gives (otherwise run scripts/doc-tables.ts)', () => {
  const plots = savedPlots();
  expect(readdirSync(join(packageRoot(), PLOTS_FOLDER)).toSorted()).toEqual(Object.keys(plots).toSorted());
  for (const [file, svg] of Object.entries(plots)) expect(committed(file), file).toBe(svg);
});

test('the document shows every plot, with a description for readers who cannot see it', () => {
  const text = readFileSync(join(packageRoot(), 'docs', 'performance.md'), 'utf8');
  const shown = [...text.matchAll(/!\[(.{20,})\]\(plots\/([\w-]+\.svg)\)/g)].map(([, , file = '']) => file);
  expect(shown.toSorted()).toEqual(Object.keys(savedPlots()).toSorted());
});

test('a plot is complete and well-formed, and the same plot gives the same text', () => {
  const svg = plotSvg(PLOT);
  expect(plotSvg(structuredClone(PLOT))).toBe(svg);
  assertBalanced(svg);
  expect(svg).toContain('<title id="title">Latency &lt;of&gt; a &amp; b</title>');
  expect(svg).toContain('p50: 0.5 at 1, 50 at 4. p99: 1 at 1, 99 at 4.');
  expect(svg).toContain('prefers-color-scheme:dark');
  for (const text of ['callers', 'ms', 'p50', 'p99', 'a machine, a day'])
    expect(svg).toContain(`>${text}</text>`);
  expect(svg).not.toMatch(/NaN|undefined|Infinity|https?:\/\/(?!www\.w3\.org)|<script/);
});

test('every point is inside the panel, higher values are further up and to the right', () => {
  const xs = [...plotSvg(PLOT).matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].slice(0, 3);
  const [first, second, third] = xs.map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
  expect(first?.x).toBe(70);
  expect(second?.x).toBe(455);
  expect(third?.x).toBe(840);
  expect(second?.y).toBeLessThan(first?.y ?? 0);
  expect(third?.y).toBeLessThan(second?.y ?? 0);
  expect(third?.y).toBeGreaterThanOrEqual(44);
});

test.each([
  ['no data', { ...PLOT, series: [] }],
  ['zero on a logarithmic axis', { ...PLOT, series: [{ name: 'a', colour: 0, points: [[1, 0]] }] }],
  ['a figure that was not measured', { ...PLOT, series: [{ name: 'a', colour: 0, points: [[1, NaN]] }] }],
] as [string, Plot][])('a plot with %s is refused', (_what, plot) => {
  expect(() => plotSvg(plot)).toThrow(/^A plot /);
});

const SCALES = fc.constantFrom('linear', 'log');

test('the ticks of an axis enclose the data, ascend, are few and have different labels', () => {
  const figure = fc.double({ min: 0.01, max: 1e5, noNaN: true });
  fc.assert(
    fc.property(SCALES, fc.array(figure, { minLength: 1 }), (scale, values) => {
      const ticks = ticksOf({ label: '', scale }, values);
      expect(ticks[0]).toBeLessThanOrEqual(Math.min(...values));
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values));
      expect(ticks).toEqual([...new Set(ticks)].toSorted((a, b) => a - b));
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(13);
      expect(new Set(ticks.map(tickLabel)).size).toBe(ticks.length);
    }),
  );
});

test('the first tick is at one end of the axis and the last at the other', () => {
  fc.assert(
    fc.property(SCALES, fc.integer({ min: 1, max: 1000 }), (scale, most) => {
      const ticks = ticksOf({ label: '', scale }, [1, most]);
      const position = positionOn(scale, ticks, { from: 100, to: 20 });
      expect(position(ticks[0] ?? NaN)).toBeCloseTo(100);
      expect(position(ticks.at(-1) ?? NaN)).toBeCloseTo(20);
    }),
  );
});

/** Every element that opens also closes, in the right order. */
function assertBalanced(svg: string): void {
  const open: string[] = [];
  for (const [, close, name = '', selfClosing] of svg.matchAll(/<(\/?)(\w+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (close) expect(open.pop()).toBe(name);
    else if (!selfClosing) open.push(name);
  }
  expect(open).toEqual([]);
}
