/**
 * A plot as one SVG: without scripts and external resources, legible on light and dark pages, with a title, a description and
 * the data for readers who cannot see it. The same plot always gives the same text.
 *
 * @module
 */
import { positionOn, tickLabel, ticksOf, type Range } from './plot-axis.ts';

export interface Axis {
  label: string;
  scale: 'linear' | 'log';
  /** Absent: round numbers in the range of the data. */
  ticks?: readonly number[];
}

export interface Series {
  name: string;
  /** Series of one colour belong together; a marker per colour distinguishes them too. */
  colour: number;
  dashed?: boolean;
  points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  title: string;
  x: Axis;
  y: Axis;
  series: readonly Series[];
  /** The machine and the date. */
  note: string;
}

const WIDTH = 860;
const PANEL = { left: 70, right: 840, top: 44, bottom: 380 } as const;
const LEGEND = { top: 440, line: 20, columns: 3 } as const;
const MARKER = 3.5;

/** Blue, orange, green and purple, with enough contrast to both backgrounds. */
const COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#0b5cad', '#79b8ff'],
  ['#a84300', '#ffab70'],
  ['#1a7037', '#7ee787'],
  ['#7a35b0', '#d2a8ff'],
];

interface Drawn {
  plot: Plot;
  toX: (value: number) => number;
  toY: (value: number) => number;
  xTicks: readonly number[];
  yTicks: readonly number[];
}

export function plotSvg(plot: Plot): string {
  const drawn = prepared(plot);
  const rows = Math.ceil(plot.series.length / LEGEND.columns);
  const height = LEGEND.top + rows * LEGEND.line + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(plot.title)}</title>`,
    `<desc id="desc">${escaped(description(plot))}</desc>`,
    `<style>${style()}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="title" x="${PANEL.left}" y="26">${escaped(plot.title)}</text>`,
    ...grid(drawn),
    ...plot.series.map((series) => line(series, drawn)),
    ...plot.series.map(legendEntry),
    `<text class="note" x="16" y="${height - 12}">${escaped(plot.note)}</text>`,
    '</svg>\n',
  ].join('\n');
}

function prepared(plot: Plot): Drawn {
  const points = plot.series.flatMap((series) => series.points);
  const xTicks = ticksOf(
    plot.x,
    points.map(([x]) => x),
  );
  const yTicks = ticksOf(
    plot.y,
    points.map(([, y]) => y),
  );
  const place = ({ scale }: Axis, ticks: readonly number[], range: Range) => positionOn(scale, ticks, range);
  return {
    plot,
    xTicks,
    yTicks,
    toX: place(plot.x, xTicks, { from: PANEL.left, to: PANEL.right }),
    toY: place(plot.y, yTicks, { from: PANEL.bottom, to: PANEL.top }),
  };
}

function grid({ plot, toX, toY, xTicks, yTicks }: Drawn): string[] {
  const middle = (PANEL.left + PANEL.right) / 2;
  const height = (PANEL.top + PANEL.bottom) / 2;
  return [
    ...yTicks.flatMap((value) => [
      `<line class="grid" x1="${PANEL.left}" x2="${PANEL.right}" y1="${px(toY(value))}" y2="${px(toY(value))}"/>`,
      `<text class="y" x="${PANEL.left - 8}" y="${px(toY(value) + 4)}">${tickLabel(value)}</text>`,
    ]),
    ...xTicks.flatMap((value) => [
      `<line class="grid" x1="${px(toX(value))}" x2="${px(toX(value))}" y1="${PANEL.top}" y2="${PANEL.bottom}"/>`,
      `<text class="x" x="${px(toX(value))}" y="${PANEL.bottom + 18}">${tickLabel(value)}</text>`,
    ]),
    `<text class="x label" x="${middle}" y="${PANEL.bottom + 40}">${escaped(plot.x.label)}</text>`,
    `<text class="x label" transform="translate(18 ${height}) rotate(-90)">${escaped(plot.y.label)}</text>`,
  ];
}

function line({ colour, dashed, points }: Series, { toX, toY }: Drawn): string {
  const places = points.map(([x, y]) => [px(toX(x)), px(toY(y))] as const);
  const path = places.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return [
    `<g class="c${colour}${dashed ? ' dashed' : ''}">`,
    `<path d="${path}"/>`,
    ...places.map(([x, y]) => marker(colour, Number(x), Number(y))),
    '</g>',
  ].join('');
}

function legendEntry(series: Series, at: number): string {
  const x = 16 + (at % LEGEND.columns) * 280;
  const y = LEGEND.top + Math.floor(at / LEGEND.columns) * LEGEND.line;
  return [
    `<g class="c${series.colour}${series.dashed ? ' dashed' : ''}">`,
    `<path d="M${x} ${y}L${x + 32} ${y}"/>${marker(series.colour, x + 16, y)}</g>`,
    `<text x="${x + 40}" y="${y + 4}">${escaped(series.name)}</text>`,
  ].join('');
}

/** A circle, square, triangle or diamond, so that colours are not the only difference. */
function marker(colour: number, x: number, y: number): string {
  const corners: Readonly<Record<number, readonly (readonly [number, number])[]>> = {
    1: [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ],
    2: [
      [0, -1.2],
      [1.2, 1],
      [-1.2, 1],
    ],
    3: [
      [0, -1.4],
      [1.4, 0],
      [0, 1.4],
      [-1.4, 0],
    ],
  };
  const shape = corners[colour];
  if (!shape) return `<circle cx="${x}" cy="${y}" r="${MARKER}"/>`;
  const places = shape.map(([dx, dy]) => `${px(x + dx * MARKER)},${px(y + dy * MARKER)}`);
  return `<polygon points="${places.join(' ')}"/>`;
}

/** The first and the last point of every series, in words. */
function description({ x, y, series }: Plot): string {
  const sentences = series.flatMap(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (!first || !last) return [];
    return [
      `${name}: ${tickLabel(first[1])} at ${tickLabel(first[0])}, ${tickLabel(last[1])} at ${tickLabel(last[0])}.`,
    ];
  });
  return [`${y.label} against ${x.label}.`, ...sentences].join(' ');
}

function style(): string {
  const colours = (which: 0 | 1): string => COLOURS.map((pair, at) => `.c${at}{--c:${pair[which]}}`).join('');
  return [
    'text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}',
    '.title{font-size:15px;font-weight:600}.label{font-weight:600}.note{font-size:11px;fill:#59636e}',
    '.x{text-anchor:middle}.y{text-anchor:end}.page{fill:#fff}.grid{stroke:#d8dee4}',
    'path{fill:none;stroke:var(--c);stroke-width:2}circle,polygon{fill:var(--c)}.dashed path{stroke-dasharray:6 4}',
    colours(0),
    '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#9198a1}.page{fill:#0d1117}.grid{stroke:#30363d}',
    `${colours(1)}}`,
  ].join('\n');
}

function px(value: number): string {
  return String(Number(value.toFixed(1)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
