/**
 * Headers of requests and responses.
 *
 * @module
 */
type Pair = [name: string, value: string];
export type HeadersInit = Headers | Iterable<readonly unknown[]> | Record<string, unknown> | undefined;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- these end a line
const FORBIDDEN = /[\0\r\n]/;

export class Headers {
  /** By lower-case name. */
  readonly #values = new Map<string, string[]>();

  constructor(from?: HeadersInit) {
    if (from === undefined || from === null) return;
    const pairs: Iterable<readonly unknown[]> =
      Symbol.iterator in from ? (from as Iterable<unknown[]>) : Object.entries(from);
    for (const pair of pairs) {
      const [name, value, ...more] = [...pair];
      if (more.length > 0 || value === undefined)
        throw new TypeError('A header must have a name and a value');
      this.append(name, value);
    }
  }

  append(name: unknown, value: unknown): void {
    const key = nameOf(name);
    this.#values.set(key, [...(this.#values.get(key) ?? []), valueOf(value)]);
  }

  delete(name: unknown): void {
    this.#values.delete(nameOf(name));
  }

  get(name: unknown): string | null {
    return this.#values.get(nameOf(name))?.join(', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  has(name: unknown): boolean {
    return this.#values.has(nameOf(name));
  }

  set(name: unknown, value: unknown): void {
    this.#values.set(nameOf(name), [valueOf(value)]);
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  /** Sorted by name. Cookies stay separate, because they may contain commas. */
  *entries(): Generator<Pair> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? [];
      if (name === 'set-cookie') for (const value of values) yield [name, value];
      else yield [name, values.join(', ')];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }
}

function nameOf(name: unknown): string {
  const text = String(name);
  if (!TOKEN.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a valid header name`);
  return text.toLowerCase();
}

function valueOf(value: unknown): string {
  const text = String(value).replaceAll(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (FORBIDDEN.test(text)) throw new TypeError('A header value has invalid characters');
  return text;
}
