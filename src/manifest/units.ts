/**
 * Parses and formats durations ("30s", "500ms") and sizes ("64MiB") for manifests and the command line.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { LIMITS, type DeclaredLimit, type Unit } from '../vocabulary/limits.ts';
import { quote } from './quote.ts';

/** Node's timers wrap around above this and fire immediately. */
export const MAX_DURATION_MS = 2_147_483_647;

type Units = readonly (readonly [name: string, factor: number])[];

/** Largest first: formatting takes the first unit that divides without a remainder. */
const DURATION_UNITS: Units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
const BINARY_UNITS: Units = [
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['B', 1],
];
const SIZE_UNITS: Units = [...BINARY_UNITS, ['TB', 1e12], ['GB', 1e9], ['MB', 1e6], ['KB', 1e3]];

interface Quantity {
  kind: 'duration' | 'size';
  units: Units;
  /** Factor of a number without a unit. */
  bare: number;
  max: number;
  example: string;
}

const DURATION: Quantity = {
  kind: 'duration',
  units: DURATION_UNITS,
  bare: 1000,
  max: MAX_DURATION_MS,
  example: '"30s", "500ms" or "2m"; a bare number means seconds',
};
const SIZE: Quantity = {
  kind: 'size',
  units: SIZE_UNITS,
  bare: 1,
  max: Number.MAX_SAFE_INTEGER,
  example: '"64MiB", "512KiB" or "1MB"; a bare number means bytes',
};

/** Milliseconds of "30s", "500ms", "2m", "1h"; a bare number means seconds. Throws `usage`. */
export function parseDuration(value: string | number): number {
  return parseQuantity(value, DURATION);
}

/** Bytes of "64MiB", "1MB", "512KiB"; a bare number means bytes. Throws `usage`. */
export function parseSize(value: string | number): number {
  return parseQuantity(value, SIZE);
}

/** The shortest text that `parseDuration` reads back as exactly this many milliseconds. */
export function formatDuration(milliseconds: number): string {
  return formatQuantity(milliseconds, DURATION_UNITS);
}

/** The shortest text that `parseSize` reads back as exactly this many bytes. */
export function formatSize(bytes: number): string {
  return formatQuantity(bytes, BINARY_UNITS);
}

function formatQuantity(amount: number, units: Units): string {
  const fitting = units.find(([, factor]) => amount !== 0 && amount % factor === 0) ?? units.at(-1);
  if (fitting === undefined) return String(amount);
  const [name, factor] = fitting;
  return `${amount / factor}${name}`;
}

function parseQuantity(value: string | number, quantity: Quantity): number {
  const amount = typeof value === 'number' ? value * quantity.bare : readText(value, quantity);
  if (Number.isNaN(amount)) throw refuse(value, quantity, `is not a ${quantity.kind}`);
  if (amount <= 0) throw refuse(value, quantity, 'must be more than zero');
  // Rounded up, so that "0.5B" is a limit of one byte, not zero.
  const whole = Math.ceil(amount);
  if (whole > quantity.max)
    throw refuse(value, quantity, `is more than the largest possible ${quantity.kind}`);
  return whole;
}

function readText(text: string, quantity: Quantity): number {
  const match = /^([+-]?\d{1,20}(?:\.\d{1,9})?) ?([A-Za-z]{0,3})$/.exec(text.trim());
  if (!match) return Number.NaN;
  const [, digits, unit] = match;
  const factor = unit === '' ? quantity.bare : quantity.units.find(([name]) => name === unit)?.[1];
  return factor === undefined ? Number.NaN : Number(digits) * factor;
}

function refuse(value: string | number, quantity: Quantity, why: string): SkillError {
  const quoted = typeof value === 'number' ? String(value) : quote(value);
  const message = `${quoted} ${why}; write ${quantity.example}`;
  return new SkillError('usage', message, {
    fix: `Write a ${quantity.kind} such as ${quantity.example}. Units: ${quantity.units.map(([name]) => name).join(', ')}.`,
    detail: { value },
  });
}

const FORMATS = {
  duration: formatDuration,
  size: formatSize,
  count: String,
} satisfies Record<Unit, (value: number) => string>;

/** The amount of a limit with its unit. */
export function formatLimit(name: DeclaredLimit, value: number): string {
  return FORMATS[LIMITS[name].unit](value);
}
