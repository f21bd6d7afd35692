/**
 * The ticks of an axis, and where a value is on it.
 *
 * @module
 */
import type { Axis } from './plot-svg.ts';

/** In pixels; `from` is where the smallest tick is. */
export interface Range {
  from: number;
  to: number;
}

const MOST_TICKS = 8;
/** A logarithmic axis with fewer decades also has ticks at 2 and 5. */
const FEW_DECADES = 3;

/** From the last tick that is not above the data to the first that is not below it. */
export function ticksOf({ scale, ticks }: Axis, values: readonly number[]): readonly number[] {
  if (values.length === 0) throw new Error('A plot needs data');
  if (values.some((value) => !Number.isFinite(value) || (scale === 'log' && value <= 0)))
    throw new Error(`A plot cannot show ${values.join(', ')} on a ${scale} axis`);
  if (ticks) return ticks;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return scale === 'log' ? logTicks(least, most) : linearTicks(Math.min(0, least), most);
}

function logTicks(least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  const steps = decades < FEW_DECADES ? [1, 2, 5] : [1];
  const [from, to] = [Math.floor(Math.log10(least)) - 1, Math.ceil(Math.log10(most)) + 1];
  const all: number[] = [];
  for (let power = from; power <= to; power++) all.push(...steps.map((step) => Number(`${step}e${power}`)));
  const first = all.findLastIndex((tick) => tick <= least);
  const last = all.findIndex((tick) => tick >= most && tick > (all[first] ?? 0));
  return all.slice(first, last + 1);
}

function linearTicks(least: number, most: number): number[] {
  const raw = (most > least ? most - least : 1) / MOST_TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((one) => one * power >= raw) ?? 10) * power;
  const from = Math.floor(least / step);
  const count = Math.max(1, Math.ceil(most / step) - from);
  return Array.from({ length: count + 1 }, (_, at) => Number(((from + at) * step).toPrecision(6)));
}

export function positionOn(
  scale: Axis['scale'],
  ticks: readonly number[],
  { from, to }: Range,
): (value: number) => number {
  const at = (value: number): number => (scale === 'log' ? Math.log10(value) : value);
  const [least, most] = [at(ticks[0] ?? 1), at(ticks.at(-1) ?? 1)];
  return (value) => from + ((at(value) - least) / (most - least)) * (to - from);
}

/** At most three significant digits, with separators for thousands. */
export function tickLabel(value: number): string {
  const rounded = value >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}
