/**
 * The plots of `docs/performance.md`, from the saved report of `npm run bench -- --only growth`.
 *
 * @module
 */
import { GROWTH_JOBS } from '../../bench/growth/engines.ts';
import type { GrowthReport } from '../../bench/growth/run-growth.ts';
import type { CallsOfKind, SkillsRow } from '../../bench/growth/skills.ts';
import type { MachineFacts } from '../../bench/runner/machine.ts';
import { plotSvg, type Axis, type Plot, type Series } from './plot-svg.ts';

type Point = readonly [x: number, y: number];

export const PLOTS_FOLDER = 'docs/plots';
const KIB = 1024;
const MIB = KIB ** 2;
const COLOURS: readonly string[] = GROWTH_JOBS.map(({ name }) => name);
/** Colour of what belongs to no engine. */
const HOST_COLOUR = 1;

/** The text of each plot, by the name of its file. */
export function growthPlots(report: GrowthReport): Record<string, string> {
  const note = noteOf(report.machine);
  const plots: Record<string, Omit<Plot, 'note'>> = {
    'callers-throughput.svg': throughputOfCallers(report),
    'callers-latency.svg': latencyOfCallers(report),
    'skills-latency.svg': latencyOfSkills(report),
    'skills-memory.svg': memoryOfSkills(report),
    'image-size.svg': imageSize(report),
    'component-size.svg': componentSize(report),
  };
  return Object.fromEntries(Object.entries(plots).map(([file, plot]) => [file, plotSvg({ ...plot, note })]));
}

function noteOf({ date, cores, cpu, memory, kernel, node, loadAtStart, loadAtEnd }: MachineFacts): string {
  return (
    `Measured on ${date.slice(0, 10)}: ${cores} cores (${cpu}), ${memory}, Linux ${kernel}, Node ${node}; ` +
    `load ${loadAtStart.toFixed(1)} at the start, ${loadAtEnd.toFixed(1)} at the end.`
  );
}

function throughputOfCallers({ callers }: GrowthReport): Omit<Plot, 'note'> {
  const of = (engine: string): Point[] =>
    callers.filter((row) => row.engine === engine).map((row) => [row.callers, row.callsPerSecond]);
  return {
    title: 'Calls per second against callers',
    x: callersAxis(callers),
    y: { label: 'calls per second', scale: 'log' },
    series: enginesOf(callers).map((engine) => seriesOf(engine, engine, of(engine))),
  };
}

function latencyOfCallers({ callers }: GrowthReport): Omit<Plot, 'note'> {
  const of = (engine: string, figure: 'p50Ms' | 'p99Ms'): Point[] =>
    callers.filter((row) => row.engine === engine).map((row) => [row.callers, row[figure]]);
  return {
    title: 'Latency against callers',
    x: callersAxis(callers),
    y: { label: 'ms from call to result', scale: 'log' },
    series: enginesOf(callers).flatMap((engine) => [
      seriesOf(engine, `${engine}, p50`, of(engine, 'p50Ms')),
      { ...seriesOf(engine, `${engine}, p99`, of(engine, 'p99Ms')), dashed: true },
    ]),
  };
}

function latencyOfSkills({ skills }: GrowthReport): Omit<Plot, 'note'> {
  const of = (engine: string, kind: 'warm' | 'started', figure: keyof CallsOfKind): Point[] =>
    skills
      .filter((row) => row.engine === engine)
      .flatMap((row) => {
        const ms = row[kind][figure];
        return row[kind].calls === 0 || ms === undefined ? [] : [[row.skills, ms] as const];
      });
  const pair = (engine: string, kind: 'warm' | 'started'): Series[] => {
    const name = kind === 'warm' ? `${engine}, warm` : `${engine}, must start`;
    // The two engines here leave two colours for the calls that start a process.
    const colour = colourOf(engine) + (kind === 'warm' ? 0 : 1);
    return [
      { name: `${name}, p50`, colour: colour % COLOURS.length, points: of(engine, kind, 'p50Ms') },
      {
        name: `${name}, p99`,
        colour: colour % COLOURS.length,
        points: of(engine, kind, 'p99Ms'),
        dashed: true,
      },
    ];
  };
  return {
    title: 'Latency against skills in one runtime',
    x: skillsAxis(skills),
    y: { label: 'ms from call to result', scale: 'log' },
    series: enginesOf(skills)
      .flatMap((engine) => (['warm', 'started'] as const).map((kind) => pair(engine, kind)))
      .flat()
      .filter(({ points }) => points.length > 0),
  };
}

function memoryOfSkills({ skills }: GrowthReport): Omit<Plot, 'note'> {
  const of = (engine: string, bytes: (row: SkillsRow) => number | undefined): Point[] =>
    skills
      .filter((row) => row.engine === engine)
      .flatMap((row) => {
        const found = bytes(row);
        return found === undefined ? [] : [[row.skills, found / MIB] as const];
      });
  return {
    title: 'Memory of all processes against skills in one runtime',
    x: skillsAxis(skills),
    y: { label: 'MiB', scale: 'linear' },
    series: enginesOf(skills).flatMap((engine) => [
      seriesOf(
        engine,
        `${engine}, all cells (Pss)`,
        of(engine, ({ cellBytes }) => cellBytes),
      ),
      {
        ...seriesOf(
          engine,
          `${engine}, the caller (RSS)`,
          of(engine, ({ hostBytes }) => hostBytes),
        ),
        dashed: true,
      },
    ]),
  };
}

function imageSize({ images }: GrowthReport): Omit<Plot, 'note'> {
  const of = (ms: (row: GrowthReport['images'][number]) => number): Point[] =>
    images.map((row) => [row.mebibytes, ms(row)]);
  return {
    title: 'Python in Wasm: a call against the size of the image',
    x: { label: 'MiB of data in the module body', scale: 'linear' },
    y: { label: 'ms', scale: 'log' },
    series: [
      { name: 'call, p50', colour: 0, points: of(({ medianMs }) => medianMs) },
      { name: 'call, p99', colour: 0, dashed: true, points: of(({ p99Ms }) => p99Ms) },
      {
        name: 'CPU per call, cell and caller',
        colour: HOST_COLOUR,
        points: of(({ cpu }) => cpu.cellMs + cpu.hostMs),
      },
      { name: 'first call', colour: 2, points: of(({ firstCallMs }) => firstCallMs) },
    ],
  };
}

function componentSize({ sizes }: GrowthReport): Omit<Plot, 'note'> {
  const of = (ms: (row: GrowthReport['sizes'][number]) => number): Point[] =>
    sizes.map((row) => [row.bytes / KIB, ms(row)]);
  return {
    title: 'A component: a call against the size of the binary',
    x: { label: 'KiB of the component', scale: 'log' },
    y: { label: 'ms', scale: 'log' },
    series: [
      { name: 'call, p50', colour: 0, points: of(({ warmMs }) => warmMs) },
      { name: 'call, p99', colour: 0, dashed: true, points: of(({ warmP99Ms }) => warmP99Ms) },
      { name: 'install, once', colour: 1, points: of(({ installMs }) => installMs) },
      { name: 'first call of a process', colour: 2, points: of(({ coldMs }) => coldMs) },
    ],
  };
}

function seriesOf(engine: string, name: string, points: readonly Point[]): Series {
  return { name, colour: colourOf(engine), points };
}

function colourOf(engine: string): number {
  return Math.max(0, COLOURS.indexOf(engine));
}

function enginesOf(rows: readonly { engine: string }[]): string[] {
  return [...new Set(rows.map(({ engine }) => engine))];
}

function callersAxis(rows: readonly { callers: number }[]): Axis {
  const ticks = [...new Set(rows.map(({ callers }) => callers))];
  return { label: 'callers at once', scale: 'log', ticks };
}

function skillsAxis(rows: readonly { skills: number }[]): Axis {
  const ticks = [...new Set(rows.map(({ skills }) => skills))];
  return { label: 'skills, called at random', scale: 'log', ticks };
}
