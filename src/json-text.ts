/**
 * JSON that is too large for the event loop: it stays text from the worker thread that checked it to the client that reads
 * it.
 *
 * @module
 */
import type { Outcome, Success } from './outcome.ts';

/** JSON up to this size is parsed, checked and written on the event loop; that takes a few milliseconds at worst. */
export const MAX_JSON_HERE: number = 32 * 1024;

/** Sixteen digits or an exponent: JavaScript represents a number with neither exactly as written. */
export const SUSPECT_NUMBER: RegExp = /\d{16}|\d[eE]/;

/** Why JavaScript would change a JSON number; rounding after the decimal point does not count. */
export function changeOf(source: string): 'range' | 'digits' | undefined {
  const value = Number(source);
  if (!Number.isFinite(value)) return 'range';
  if (value === 0) return /^[^eE]*[1-9]/.test(source) ? 'range' : undefined;
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return undefined;
  return BigInt(source) === BigInt(value) ? undefined : 'digits';
}

/** Like `JSON.parse`, but throws instead of silently changing a number. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (SUSPECT_NUMBER.test(text)) assertNumbers(text);
  return value;
}

/** Expects well-formed JSON. */
function assertNumbers(text: string): void {
  const token = /"|-?\d[\d.eE+-]*/g;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [source] = found;
    if (source === '"') {
      token.lastIndex = endOfString(text, found.index) + 1;
      continue;
    }
    const change = changeOf(source);
    const excerpt = source.slice(0, 40);
    if (change === 'range') throw new SyntaxError(`the number ${excerpt} is out of range`);
    if (change === 'digits')
      throw new SyntaxError(
        `the integer ${excerpt} is beyond 2^53 and would be rounded; write it as a string`,
      );
  }
}

/** Index of the closing quote: the first one with an even number of backslashes before it. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first--;
    if ((end - first) % 2 === 0) return end;
  }
}

/** JSON text as UTF-8; the creator has checked that it is well-formed. */
export class JsonText {
  readonly bytes: Uint8Array;
  #parsed: { value: unknown } | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Parses it once, on this thread. For programs that read the value; a service passes on the text. */
  get value(): unknown {
    this.#parsed ??= { value: JSON.parse(this.toString()) };
    return this.#parsed.value;
  }

  toString(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('utf8');
  }
}

const TEXT: unique symbol = Symbol('text of a large result');

/** Attaches a large result to a successful outcome; `result` is parsed on first read. */
export function attachResult(outcome: Success, text: JsonText): Success {
  Object.defineProperty(outcome, 'result', { get: () => text.value, enumerable: true, configurable: true });
  return Object.defineProperty(outcome, TEXT, { value: text });
}

/** The text of a large result. */
export function resultText(outcome: object): JsonText | undefined {
  return (outcome as { [TEXT]?: JsonText })[TEXT];
}

/** The whole outcome as JSON; the text of a large result is copied unparsed. */
export function outcomeJson(outcome: Outcome, write: (value: unknown) => string = JSON.stringify): Buffer {
  const text = resultText(outcome);
  if (!text) return Buffer.from(write(outcome));
  // Must not read `result`, which would parse it.
  const rest = Object.keys(outcome).filter((key) => key !== 'ok' && key !== 'result');
  const members = Object.fromEntries(rest.map((key) => [key, outcome[key as keyof Outcome]]));
  return Buffer.concat([
    Buffer.from('{"ok":true,"result":'),
    text.bytes,
    Buffer.from(`,${write(members).slice(1)}`),
  ]);
}
