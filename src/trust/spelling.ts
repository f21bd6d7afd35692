/**
 * One value, many spellings. A caller chooses how to write a value and a skill how to read it, so whatever some language
 * would take for a number or a word counts as that.
 *
 * @module
 */

/** Letters of other scripts that are read as Latin ones. Lower case. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: '\u0430\u03b1\u0251',
    b: '\u0432\u044c\u03b2',
    c: '\u0441\u03f2',
    d: '\u0501',
    e: '\u0435\u03b5\u0454',
    g: '\u0261',
    h: '\u04bb\u043d',
    i: '\u0456\u03b9\u0131\u0269',
    j: '\u0458\u03f3',
    k: '\u043a\u03ba',
    l: '\u04cf\u01c0',
    m: '\u043c',
    n: '\u03b7\u0578',
    o: '\u043e\u03bf\u0585',
    p: '\u0440\u03c1',
    q: '\u051b',
    s: '\u0455',
    t: '\u0442\u03c4',
    u: '\u03c5\u057d',
    v: '\u03bd\u0475',
    w: '\u051d\u03c9',
    x: '\u0445\u03c7',
    y: '\u0443\u03b3',
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

/** Without what cannot be seen, in one case, and letters that only look different as one. */
export function plainText(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Mn}]/gu, '')
    .toLowerCase();
  return Array.from(bare, (letter) => LOOK_ALIKES.get(letter) ?? letter).join('');
}

/** Every number that a reader could take the value for; none when there is none. */
export function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  // Python and C count with them.
  if (typeof value === 'boolean') return [Number(value)];
  if (Array.isArray(value)) return value.length === 1 ? numbersIn(value[0]) : [];
  return typeof value === 'string' ? numbersInText(value) : [];
}

/** Longer texts are no number that anybody means, and would only cost time. */
const MAX_NUMBER_TEXT = 400;

function numbersInText(text: string): number[] {
  if (text.length > MAX_NUMBER_TEXT) return numbersInText(text.trim().slice(0, MAX_NUMBER_TEXT));
  const plain = asciiDigits(text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''));
  const bare = plain
    .trim()
    .toLowerCase()
    .replace(/^\p{Sc}\s*/u, '');
  if (bare === '') return [];
  // Who groups by one sign has the other for the fraction.
  const readings = [
    bare,
    bare.replaceAll(/[_'\u2019\s]/g, ''),
    bare.replaceAll(/[_'\u2019\s,]/g, ''),
    bare.replaceAll(/[_'\u2019\s.]/g, '').replaceAll(',', '.'),
  ];
  const found = readings.flatMap((reading) => [Number(reading), leadingNumber(reading), infinityIn(reading)]);
  return [...new Set(found)].filter((number) => !Number.isNaN(number));
}

/** What comes after a number is skipped by some readers. */
function leadingNumber(text: string): number {
  return Number.parseFloat(text);
}

function infinityIn(text: string): number {
  const match = /^([+-]?)inf(?:inity)?$/.exec(text);
  return match ? (match[1] === '-' ? -Infinity : Infinity) : Number.NaN;
}

/** Digits of every script by their value, and signs of other scripts as the usual ones. */
function asciiDigits(text: string): string {
  return text
    .replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
    .replaceAll(/[\u2212\u2010-\u2015]/g, '-')
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',');
}

/** The ten digits of a script follow one another, and a block of them begins with its zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (code - zero) % 10;
}
