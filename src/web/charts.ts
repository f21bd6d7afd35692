/**
 * Small static charts with bars or lines. A table below has the same values, for accessibility.
 *
 * @module
 */
import { h, svg } from './dom.ts';

export interface Series {
  name: string;
  /** A colour in the style sheet. */
  tone: 'main' | 'bad' | 'soft';
  values: readonly (number | null)[];
}

export interface ChartOptions {
  title: string;
  kind: 'bars' | 'lines';
  series: readonly Series[];
  /** Labels of the first and last value. */
  ends: readonly [string, string];
  format: (value: number) => string;
}

const HEIGHT = 160;
/** About the displayed width, so that text keeps its size. */
const WIDE = 640;
const NARROW = 340;
const PAD = { top: 10, right: 8, bottom: 22 };
/** Gap between the labels and the drawing. */
const LABEL_GAP = 8;

interface Scale {
  top: number;
  width: number;
  /** Where the drawing begins, right of the labels. */
  left: number;
}

export function chart(options: ChartOptions): HTMLElement {
  const { title, series, ends, format } = options;
  const isNarrow = matchMedia('(max-width: 46rem)').matches;
  const width = isNarrow ? NARROW : WIDE;
  const top = niceTop(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const marks = [0, top / 2, top];
  // As wide as the longest label needs, in the font sizes of the style sheet.
  const longest = Math.max(...marks.map((value) => format(value).length));
  const left = 2 * LABEL_GAP + longest * (isNarrow ? 7 : 6);
  const scale = { top, width, left };
  const drawing = svg(
    'svg',
    { viewBox: `0 0 ${width} ${HEIGHT}`, class: 'chart', role: 'img', 'aria-label': summaryOf(options) },
    marks.map((value) => gridLine(value, scale, format)),
    options.kind === 'bars' ? bars(series, scale) : series.map((one) => line(one, scale)),
    label({ x: left, y: HEIGHT - 6 }, ends[0], 'start'),
    label({ x: width - PAD.right, y: HEIGHT - 6 }, ends[1], 'end'),
  );
  const legend = series.map(({ name, tone }) => h('span', `legend tone-${tone}`, name));
  return h(
    'figure',
    'chart-box',
    h('figcaption', {}, h('h2', {}, title), h('div', 'legends', legend)),
    drawing,
  );
}

function summaryOf({ title, series, format }: ChartOptions): string {
  const highest = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return `${name} up to ${format(Math.max(0, ...known))}`;
  });
  return `${title}: ${highest.join(', ')}`;
}

/** The first series is the total; the others are drawn in front of it. */
function bars(series: readonly Series[], { top, width: whole, left }: Scale): SVGElement[] {
  return series.flatMap(({ values, tone }) => {
    const step = (whole - left - PAD.right) / values.length;
    return values.map((value, at) => {
      const height = (HEIGHT - PAD.top - PAD.bottom) * ((value ?? 0) / top);
      const width = Math.max(1, step * 0.72);
      const x = left + at * step + (step - width) / 2;
      return svg('rect', {
        class: `tone-${tone}`,
        x: x.toFixed(2),
        y: (HEIGHT - PAD.bottom - height).toFixed(2),
        width: width.toFixed(2),
        height: height.toFixed(2),
        rx: Math.min(2, width / 3).toFixed(2),
      });
    });
  });
}

/** Draws a dot for each value, and leaves gaps where there is none. */
function line({ values, tone }: Series, { top, width, left }: Scale): SVGElement {
  const step = (width - left - PAD.right) / Math.max(1, values.length - 1);
  const dots: SVGElement[] = [];
  let path = '';
  let isDrawing = false;
  values.forEach((value, at) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    const x = (left + at * step).toFixed(2);
    const y = (HEIGHT - PAD.bottom - (HEIGHT - PAD.top - PAD.bottom) * (value / top)).toFixed(2);
    path += `${isDrawing ? 'L' : 'M'}${x} ${y}`;
    dots.push(svg('circle', { cx: x, cy: y, r: 2.4 }));
    isDrawing = true;
  });
  return svg('g', { class: `tone-${tone}` }, svg('path', { class: 'line', d: path }), dots);
}

function gridLine(value: number, { top, width, left }: Scale, format: (value: number) => string): SVGElement {
  const y = HEIGHT - PAD.bottom - (HEIGHT - PAD.top - PAD.bottom) * (value / top);
  return svg(
    'g',
    {},
    svg('line', { class: 'grid', x1: left, x2: width - PAD.right, y1: y, y2: y }),
    label({ x: left - LABEL_GAP, y: y + 4 }, format(value), 'end'),
  );
}

function label(at: { x: number; y: number }, text: string, anchor: 'start' | 'end'): SVGElement {
  return svg('text', { ...at, 'text-anchor': anchor }, text);
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
