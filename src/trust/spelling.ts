/**
 * Normalizes spellings of values. The caller chooses how to write a value and the skill how to read it, so anything that
 * some language reads as a certain number or word counts as that.
 *
 * @module
 */

/** Letters of other scripts that look like Latin ones. Lower case. */
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

/** Capitals that look like a different letter than their lower case: \u0397 like H, \u03b7 like n. */
const CAPITAL_LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    f: '\u03dc',
    h: '\u0397',
    m: '\u039c\u03fa',
    n: '\u039d',
    y: '\u03a5\u04ae',
    z: '\u0396',
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

/** Removes invisible characters, folds the case, and maps look-alike letters to Latin ones. */
export function plainText(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Mn}]/gu, '');
  const small = Array.from(bare, (letter) => CAPITAL_LOOK_ALIKES.get(letter) ?? letter)
    .join('')
    .toLowerCase();
  return Array.from(small, (letter) => LOOK_ALIKES.get(letter) ?? letter).join('');
}

/** Every number that a reader could read the value as. */
export function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  // Python and C treat booleans as numbers.
  if (typeof value === 'boolean') return [Number(value)];
  if (Array.isArray(value)) return value.length === 1 ? numbersIn(value[0]) : [];
  return typeof value === 'string' ? numbersInText(value) : [];
}

/** Longer text is not a plausible number, and would only cost time. */
const MAX_NUMBER_TEXT = 400;

function numbersInText(text: string): number[] {
  if (text.length > MAX_NUMBER_TEXT) return numbersInText(text.trim().slice(0, MAX_NUMBER_TEXT));
  const plain = asciiDigits(text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''));
  const bare = plain
    .trim()
    .toLowerCase()
    // A currency by its sign or its name: "$ 1000", "USD 1000", "Rs. 1000".
    .replace(/^[\p{L}\p{Sc}]{1,4}\.?\s*(?=[+-]?\.?\d)/u, '');
  if (bare === '') return [];
  // If one of "," and "." groups digits, the other is the decimal point.
  const readings = [
    bare,
    bare.replaceAll(/[_'\u2019\s]/g, ''),
    bare.replaceAll(/[_'\u2019\s,]/g, ''),
    bare.replaceAll(/[_'\u2019\s.]/g, '').replaceAll(',', '.'),
  ];
  const found = readings.flatMap((reading) => [
    Number(reading),
    leadingNumber(reading),
    multipliedNumber(reading),
    infinityIn(reading),
  ]);
  return [...new Set(found)].filter((number) => !Number.isNaN(number));
}

/** Some readers ignore text after a number. */
function leadingNumber(text: string): number {
  return Number.parseFloat(text);
}

/** Words for powers of ten after a number: "1k", "1.5 million". */
const MULTIPLES: readonly (readonly [RegExp, number])[] = [
  [/^(?:k|tsd|thousand)\b/, 1e3],
  [/^(?:m|mm|mn|mio|million)\b/, 1e6],
  [/^(?:b|bn|mrd|billion)\b/, 1e9],
  [/^(?:t|tn|trillion)\b/, 1e12],
];

function multipliedNumber(text: string): number {
  const whole = /^[+-]?[\d.]+(?:e[+-]?\d+)?/.exec(text)?.[0] ?? '';
  const rest = text.slice(whole.length).trim();
  const found = MULTIPLES.find(([pattern]) => pattern.test(rest));
  return found ? Number.parseFloat(whole) * found[1] : Number.NaN;
}

function infinityIn(text: string): number {
  const match = /^([+-]?)inf(?:inity)?$/.exec(text);
  return match ? (match[1] === '-' ? -Infinity : Infinity) : Number.NaN;
}

/** Converts digits, signs and separators of all scripts to ASCII. */
function asciiDigits(text: string): string {
  return text
    .replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
    .replaceAll(/[\u2212\u2010-\u2015]/g, '-')
    .replaceAll('\u066b', '.')
    .replaceAll('\u066c', ',');
}

/** The ten digits of a script are consecutive, and each block starts with its zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (code - zero) % 10;
}
