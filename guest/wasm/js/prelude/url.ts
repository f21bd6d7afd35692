/**
 * URL.
 *
 * @module
 */
import { ENCODE_SETS, percentEncode } from './percent.ts';
import { URLSearchParams } from './search-params.ts';
import { asText } from './text.ts';
import {
  encodeQuery,
  formatUrl,
  isSpecial,
  normalize,
  parsePlace,
  parsePort,
  parseUrl,
  type UrlRecord,
} from './url-record.ts';

export { URLSearchParams };

export class URL {
  #record: UrlRecord;
  readonly searchParams: URLSearchParams;

  constructor(url: unknown, base?: unknown) {
    this.#record = read(url, base) ?? refuse(url);
    this.searchParams = new URLSearchParams(this.#record.query, () => {
      this.#record.query = this.searchParams.toString() || undefined;
    });
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return read(url, base) !== undefined;
  }

  static parse(url: unknown, base?: unknown): URL | null {
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  get href(): string {
    return formatUrl(this.#record);
  }

  set href(url: string) {
    this.#record = read(url) ?? refuse(url);
    this.searchParams.replaceAll(this.#record.query ?? '');
  }

  get origin(): string {
    const { scheme } = this.#record;
    return isSpecial(scheme) && scheme !== 'file' ? `${scheme}://${this.host}` : 'null';
  }

  get protocol(): string {
    return `${this.#record.scheme}:`;
  }

  set protocol(value: unknown) {
    const [, scheme] = /^([a-z][a-z0-9+.-]*)(?::|$)/i.exec(asText(value)) ?? [];
    const record = this.#record;
    const wanted = scheme?.toLowerCase();
    if (wanted === undefined || isSpecial(wanted) !== isSpecial(record.scheme) || wanted === 'file') return;
    this.#record = { ...record, scheme: wanted, port: parsePort(record.port, wanted) ?? '' };
  }

  get username(): string {
    return this.#record.username;
  }

  set username(value: unknown) {
    if (this.#record.host) this.#record.username = percentEncode(asText(value), ENCODE_SETS.userinfo);
  }

  get password(): string {
    return this.#record.password;
  }

  set password(value: unknown) {
    if (this.#record.host) this.#record.password = percentEncode(asText(value), ENCODE_SETS.userinfo);
  }

  get host(): string {
    const { host = '', port } = this.#record;
    return port ? `${host}:${port}` : host;
  }

  set host(value: unknown) {
    if (this.#record.isOpaque) return;
    const [place = ''] = /^[^/?#\\]*/.exec(asText(value)) ?? [];
    const parsed = parsePlace(place, this.#record.scheme);
    if (parsed) this.#record = { ...this.#record, ...parsed, port: parsed.port || this.#record.port };
  }

  get hostname(): string {
    return this.#record.host ?? '';
  }

  set hostname(value: unknown) {
    if (this.#record.isOpaque) return;
    const [name = ''] = /^(?:\[[^\]]*\]|[^/?#\\:]*)/.exec(asText(value)) ?? [];
    const parsed = parsePlace(name, this.#record.scheme);
    if (parsed) this.#record.host = parsed.host;
  }

  get port(): string {
    return this.#record.port;
  }

  set port(value: unknown) {
    const [digits] = /^\d+|^$/.exec(asText(value)) ?? [];
    const port = digits === undefined ? undefined : parsePort(digits, this.#record.scheme);
    if (port !== undefined && this.#record.host) this.#record.port = port;
  }

  get pathname(): string {
    return this.#record.path;
  }

  set pathname(value: unknown) {
    const record = this.#record;
    if (record.isOpaque) return;
    const path = asText(value).replaceAll(/[?#]/g, (letter) => encodeURIComponent(letter));
    record.path = normalize(path, isSpecial(record.scheme));
  }

  get search(): string {
    return this.#record.query ? `?${this.#record.query}` : '';
  }

  set search(value: unknown) {
    const query = asText(value).replace(/^\?/, '');
    const special = isSpecial(this.#record.scheme);
    this.#record.query = value === '' ? undefined : encodeQuery(query, special).replaceAll('#', '%23');
    this.searchParams.replaceAll(query);
  }

  get hash(): string {
    return this.#record.fragment ? `#${this.#record.fragment}` : '';
  }

  set hash(value: unknown) {
    const fragment = asText(value).replace(/^#/, '');
    this.#record.fragment = value === '' ? undefined : percentEncode(fragment, ENCODE_SETS.fragment);
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }
}

function read(url: unknown, base?: unknown): UrlRecord | undefined {
  if (base === undefined) return parseUrl(asText(url));
  const parsed = parseUrl(asText(base));
  return parsed && parseUrl(asText(url), parsed);
}

function refuse(url: unknown): never {
  throw new TypeError(`${JSON.stringify(asText(url))} is not a valid URL`);
}
