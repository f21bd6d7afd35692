/**
 * Converts quantities between units. What cannot be converted without guessing is an error that says what to write.
 */
import { AMBIGUOUS, UNITS, type Unit } from './units.ts';

interface Params {
  value?: number;
  from?: string;
  text?: string;
  to: string;
  digits?: number;
}

interface Result {
  value: number;
  unit: string;
  from: { value: number; unit: string };
  kind: string;
  text: string;
}

interface Quantity {
  value: number;
  unit: Unit;
}

const DEFAULT_DIGITS = 12;
const ABSOLUTE_ZERO = 0;
/** A number and its unit. Digits belong to the unit in "l/100km" and at the end of "m2", nowhere else. */
const PART =
  /([-+]?\d[\d,_ ]*(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)\s*([^\d\s]+\/100\s?km|[^\d\s]+[23](?![\da-z])|[^\d\s][^\d]*)/gy;

export function execute(params: Params): Result {
  const { digits = DEFAULT_DIGITS } = params;
  const given = quantityOf(params);
  const to = findUnit(params.to);
  if (given.unit.kind !== to.kind)
    throw new Error(`A ${given.unit.name} measures ${given.unit.kind}, a ${to.name} measures ${to.kind}`);
  const base = toBase(given);
  if (to.kind === 'temperature' && base < ABSOLUTE_ZERO - 1e-9)
    throw new Error(`${given.value} ${given.unit.name} is below absolute zero`);
  const value = round(fromBase(base, to), digits);
  if (!Number.isFinite(value)) throw new Error(`${given.value} ${given.unit.name} has no value in ${to.name}`);
  const from = { value: round(given.value, digits), unit: given.unit.name };
  const text = `${from.value} ${from.unit} = ${value} ${to.name}`;
  return { value, unit: to.name, from, kind: to.kind, text };
}

function quantityOf({ value, from, text }: Params): Quantity {
  if (text !== undefined) {
    if (value !== undefined || from !== undefined) throw new Error('Give either text, or value and from');
    return parseQuantity(text);
  }
  if (value === undefined || from === undefined) throw new Error('Give value and from, or a text such as "5 ft 11 in"');
  return { value, unit: findUnit(from) };
}

/** "5 ft 11 in": parts of one kind, from large to small; the sum is in the unit of the first. */
function parseQuantity(text: string): Quantity {
  const parts = [...text.trim().matchAll(PART)];
  const read = parts.map(([whole]) => whole).join('');
  if (parts.length === 0 || read.trim() !== text.trim()) throw new Error(`${JSON.stringify(text)} is no quantity such as "5 ft 11 in"`);
  const quantities = parts.map(([, number = '', unit = '']) => ({ value: parseNumber(number), unit: findUnit(unit) }));
  const [first, ...others] = quantities as [Quantity, ...Quantity[]];
  if (others.length > 0 && (first.unit.offset !== undefined || first.unit.isInverse))
    throw new Error(`Quantities of ${first.unit.kind} cannot be added up`);
  let sum = toBase({ value: Math.abs(first.value), unit: first.unit });
  let before = first.unit;
  for (const { value, unit } of others) {
    if (unit.kind !== first.unit.kind || unit.factor >= before.factor || value < 0)
      throw new Error(`${JSON.stringify(text)} mixes units that do not belong together`);
    sum += toBase({ value, unit });
    before = unit;
  }
  if (others.length === 0) return first;
  const total = fromBase(sum, first.unit);
  return { value: first.value < 0 ? -total : total, unit: first.unit };
}

/** Commas and blanks separate thousands and nothing else: "1,5" could mean two things. */
function parseNumber(text: string): number {
  const plain = text.trim();
  if (/[,_ ]/.test(plain) && !/^[-+]?\d{1,3}(?:[,_ ]\d{3})+(?:\.\d+)?$/.test(plain))
    throw new Error(`${JSON.stringify(plain)} is no clear number; write a point before decimals, such as 1.5`);
  return Number(plain.replaceAll(/[,_ ]/g, ''));
}

function findUnit(text: string): Unit {
  const wanted = text.trim();
  const exact = UNITS.find(({ name, symbols }) => name === wanted || symbols.includes(wanted));
  if (exact) return exact;
  const key = singular(wanted.toLowerCase());
  const several = AMBIGUOUS[wanted.toLowerCase()] ?? AMBIGUOUS[key];
  if (several) throw new Error(ambiguous(wanted, several));
  const byName = UNITS.find(({ name }) => singular(name.toLowerCase()) === key);
  if (byName) return byName;
  // A symbol in other letters is taken only where it can mean a single unit: mb is none of Mb and MB.
  const loose = UNITS.filter(({ symbols }) => symbols.some((symbol) => singular(symbol.toLowerCase()) === key));
  const [only] = loose;
  if (only && loose.length === 1) return only;
  if (loose.length > 1) throw new Error(ambiguous(wanted, loose.map(({ name }) => name)));
  throw new Error(`${JSON.stringify(text)} is no known unit`);
}

function ambiguous(word: string, names: string[]): string {
  if (names.length === 0) return `A ${word} has no fixed length; use days or weeks`;
  return `${JSON.stringify(word)} is not clear; write ${names.map((name) => JSON.stringify(name)).join(' or ')}`;
}

/** "metres per second" and "meters per second" are "metre per second". */
function singular(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/meter/g, 'metre')
    .replaceAll(/liter/g, 'litre')
    .split(' ')
    .map((word) => (word === 'feet' ? 'foot' : word === 'inches' ? 'inch' : word.replace(/(?<=[a-z]{2})(?<!s)s$/, '')))
    .join(' ');
}

function toBase({ value, unit }: Quantity): number {
  if (unit.isInverse) return 1 / (value * unit.factor);
  return value * unit.factor + (unit.offset ?? 0);
}

function fromBase(base: number, unit: Unit): number {
  if (unit.isInverse) return 1 / (base * unit.factor);
  return (base - (unit.offset ?? 0)) / unit.factor;
}

/** Rounds away what floating point added; also turns -0 into 0. */
function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits)) + 0;
}
