/**
 * URLSearchParams.
 *
 * @module
 */
import { percentDecode } from './percent.ts';
import { asText } from './text.ts';

type Pair = [name: string, value: string];
export type SearchInit = string | Iterable<readonly unknown[]> | Record<string, unknown> | undefined;

export class URLSearchParams {
  #pairs: Pair[];
  /** Notified of changes: the URL that it belongs to. */
  readonly #onChange: (() => void) | undefined;

  constructor(from: SearchInit = '', onChange?: () => void) {
    this.#pairs = pairsOf(from);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([asText(name), asText(value)]);
    this.#onChange?.();
  }

  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter((pair) => !matches(pair, name, value));
    this.#onChange?.();
  }

  get(name: unknown): string | null {
    return this.#pairs.find((pair) => matches(pair, name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter((pair) => matches(pair, name)).map(([, value]) => value);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some((pair) => matches(pair, name, value));
  }

  /** Replaces the first one, and removes the others. */
  set(name: unknown, value: unknown): void {
    const first = this.#pairs.findIndex((pair) => matches(pair, name));
    if (first < 0) return this.append(name, value);
    const made: Pair = [asText(name), asText(value)];
    this.#pairs = this.#pairs.flatMap((pair, at) => {
      if (at === first) return [made];
      return matches(pair, name) ? [] : [pair];
    });
    return this.#onChange?.();
  }

  sort(): void {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
    this.#onChange?.();
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }

  *entries(): Generator<Pair> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }

  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }

  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }

  /** Reads the query of a URL, without notifying the URL. */
  replaceAll(query: string): void {
    this.#pairs = pairsOf(query);
  }

  toString(): string {
    return this.#pairs.map((pair) => pair.map(encode).join('=')).join('&');
  }
}

function matches([name, value]: Pair, wanted: unknown, wantedValue?: unknown): boolean {
  return name === asText(wanted) && (wantedValue === undefined || value === asText(wantedValue));
}

function pairsOf(from: SearchInit): Pair[] {
  if (typeof from !== 'object' || from === null) return parse(String(from).replace(/^\?/, ''));
  const isList = Symbol.iterator in from;
  const items: readonly (readonly unknown[])[] = isList
    ? [...(from as Iterable<unknown[]>)]
    : Object.entries(from);
  return items.map((item) => {
    const [name, value, ...more] = [...item];
    if (item.length < 2 || more.length > 0) throw new TypeError('A pair must have a name and a value');
    return [asText(name), asText(value)];
  });
}

function parse(text: string): Pair[] {
  const parts = text.split('&').filter((part) => part !== '');
  return parts.map((part) => {
    const [, name = '', value = ''] = /^([^=]*)=?([^]*)$/.exec(part.replaceAll('+', ' ')) ?? [];
    return [percentDecode(name).toWellFormed(), percentDecode(value).toWellFormed()];
  });
}

function encode(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}
