/**
 * JSON that is too large to be handled on the thread of the event loop: it stays text from the worker thread that
 * checked it to the client that reads it.
 *
 * @module
 */
import type { Outcome, Success } from './outcome.ts';

/** JSON up to this size is parsed, checked and written on the event loop's own thread: a few milliseconds at worst. */
export const MAX_JSON_HERE: number = 32 * 1024;

/** Well-formed JSON text as UTF-8, checked by whoever made this. */
export class JsonText {
  readonly bytes: Uint8Array;
  #parsed: { value: unknown } | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Parses it on this thread, once. For programs that asked for the value themselves; a service hands on the text. */
  get value(): unknown {
    this.#parsed ??= { value: JSON.parse(this.toString()) };
    return this.#parsed.value;
  }

  toString(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('utf8');
  }
}

const TEXT: unique symbol = Symbol('text of a large result');

/** Gives a successful outcome its large result: `result` is parsed when somebody reads it. */
export function attachResult(outcome: Success, text: JsonText): Success {
  Object.defineProperty(outcome, 'result', { get: () => text.value, enumerable: true, configurable: true });
  return Object.defineProperty(outcome, TEXT, { value: text });
}

/** The text of the result when it is a large one. */
export function resultText(outcome: object): JsonText | undefined {
  return (outcome as { [TEXT]?: JsonText })[TEXT];
}

/** The whole outcome as JSON, with the text of a large result as it is. */
export function outcomeJson(outcome: Outcome, write: (value: unknown) => string = JSON.stringify): Buffer {
  const text = resultText(outcome);
  if (!text) return Buffer.from(write(outcome));
  // Without a look at `result`, which would parse it.
  const rest = Object.keys(outcome).filter((key) => key !== 'ok' && key !== 'result');
  const members = Object.fromEntries(rest.map((key) => [key, outcome[key as keyof Outcome]]));
  return Buffer.concat([
    Buffer.from('{"ok":true,"result":'),
    text.bytes,
    Buffer.from(`,${write(members).slice(1)}`),
  ]);
}
