/**
 * Hosts of URLs: names in ASCII, and addresses in canonical form.
 *
 * @module
 */
import { ENCODE_SETS, percentDecode, percentEncode } from './percent.ts';

// oxlint-disable-next-line no-control-regex -- forbidden in hosts
const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
// oxlint-disable-next-line no-control-regex -- forbidden in hosts
const FORBIDDEN_DOMAIN = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/;
const NUMBER = /^(?:0x[0-9a-f]*|\d+)$/i;
const BASE = 36;
const T_MAX = 26;

/** Undefined if this is not a valid host. `isSpecial`: for http and similar schemes. */
export function parseHost(text: string, isSpecial: boolean): string | undefined {
  if (text.startsWith('[')) {
    const pieces = text.endsWith(']') ? parseIpv6(text.slice(1, -1)) : undefined;
    return pieces && `[${formatIpv6(pieces)}]`;
  }
  if (!isSpecial) return FORBIDDEN_HOST.test(text) ? undefined : percentEncode(text, ENCODE_SETS.c0);
  const decoded = percentDecode(text);
  // No name may contain the character that stands for invalid bytes.
  if (decoded.includes('\ufffd')) return undefined;
  const name = toAscii(decoded);
  if (name === undefined || name === '' || FORBIDDEN_DOMAIN.test(name)) return undefined;
  return endsInNumber(name) ? parseIpv4(name) : name;
}

function endsInNumber(name: string): boolean {
  const parts = name.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  return NUMBER.test(parts.at(-1) ?? '');
}

function parseIpv4(name: string): string | undefined {
  const parts = name.replace(/\.$/, '').split('.');
  if (parts.length > 4) return undefined;
  const numbers = parts.map(parseNumber);
  const last = numbers.pop() ?? Number.NaN;
  const isTooLarge = numbers.some((part) => !(part <= 255)) || !(last < 256 ** (4 - numbers.length));
  if (isTooLarge) return undefined;
  const address = numbers.reduce((sum, part, at) => sum + part * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function parseNumber(text: string): number {
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text, 16);
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
}

/** Eight 16-bit numbers. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [front, back] = halves.map((half) => (half === '' ? [] : piecesOf(half)));
  if (!front || (halves.length === 2 && !back)) return undefined;
  // An embedded IPv4 address is allowed only at the end.
  if (halves.length === 2 && halves[0]?.includes('.')) return undefined;
  const missing = 8 - front.length - (back?.length ?? 0);
  if (!back) return missing === 0 ? front : undefined;
  return missing > 0 ? [...front, ...Array.from({ length: missing }, () => 0), ...back] : undefined;
}

function piecesOf(text: string): number[] | undefined {
  const parts = text.split(':');
  const pieces: number[] = [];
  for (const [at, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) pieces.push(Number.parseInt(part, 16));
    else if (
      at === parts.length - 1 &&
      /^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(part) &&
      !part.endsWith('.')
    ) {
      const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
      if (Math.max(a, b, c, d) > 255) return undefined;
      pieces.push(a * 256 + b, c * 256 + d);
    } else return undefined;
  }
  return pieces;
}

/** The longest run of zeros is omitted. */
function formatIpv6(pieces: number[]): string {
  let [start, length] = [-1, 1];
  for (let at = 0; at < pieces.length; at++) {
    let end = at;
    while (end < pieces.length && pieces[end] === 0) end++;
    if (end - at > length) [start, length] = [at, end - at];
  }
  const shown = pieces.map((piece) => piece.toString(16));
  if (start < 0) return shown.join(':');
  return `${shown.slice(0, start).join(':')}::${shown.slice(start + length).join(':')}`;
}

/** Converts names in other scripts to `xn--`; the IDNA tables that map look-alikes are not included. */
function toAscii(name: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- ASCII
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  const labels = name
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[。．｡]/g, '.')
    .split('.');
  const encoded = labels.map((label) => {
    // oxlint-disable-next-line no-control-regex -- ASCII
    if (/^[\0-\x7f]*$/.test(label)) return label;
    return /[\p{C}\p{Z}]/u.test(label) ? '' : `xn--${punycode(label)}`;
  });
  return encoded.some((label, at) => label === '' && labels[at] !== '') ? undefined : encoded.join('.');
}

/** RFC 3492. */
function punycode(label: string): string {
  const points = Array.from(label, (letter) => letter.codePointAt(0) as number);
  const basic = points.filter((point) => point < 0x80);
  let output = String.fromCodePoint(...basic);
  if (basic.length > 0) output += '-';
  let [next, delta, bias] = [0x80, 0, 72];
  for (let handled = basic.length; handled < points.length;) {
    const smallest = Math.min(...points.filter((point) => point >= next));
    delta += (smallest - next) * (handled + 1);
    next = smallest;
    for (const point of points) {
      if (point < next) delta++;
      if (point !== next) continue;
      output += variableLength(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    next++;
  }
  return output;
}

function variableLength(value: number, bias: number): string {
  let text = '';
  let left = value;
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, 1), T_MAX);
    if (left < threshold) return text + digit(left);
    text += digit(threshold + ((left - threshold) % (BASE - threshold)));
    left = Math.floor((left - threshold) / (BASE - threshold));
  }
}

/** a-z come before 0-9. */
function digit(value: number): string {
  return value < 26 ? String.fromCodePoint(97 + value) : String(value - 26);
}

function adapt(value: number, count: number, isFirst: boolean): number {
  let delta = isFirst ? Math.floor(value / 700) : Math.floor(value / 2);
  delta += Math.floor(delta / count);
  let k = 0;
  for (; delta > ((BASE - 1) * T_MAX) / 2; k += BASE) delta = Math.floor(delta / (BASE - 1));
  return k + Math.floor((BASE * delta) / (delta + 38));
}
