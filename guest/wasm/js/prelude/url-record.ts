/**
 * A parsed URL, as in the URL standard, without Windows drive letters.
 *
 * @module
 */
import { ENCODE_SETS, percentEncode } from './percent.ts';
import { parseHost } from './url-host.ts';

export interface UrlRecord {
  /** Without the colon. */
  scheme: string;
  username: string;
  password: string;
  /** Undefined if there is none, as in `mailto:`. */
  host: string | undefined;
  /** Empty for the default port of the scheme. */
  port: string;
  path: string;
  /** True if the path is not a list of segments, as in `data:`. */
  isOpaque: boolean;
  /** Without the question mark. */
  query: string | undefined;
  /** Without the hash. */
  fragment: string | undefined;
}

const USUAL_PORTS: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
  file: '',
};
const MAX_PORT = 65_535;
// oxlint-disable-next-line no-control-regex -- stripped by the standard
const AROUND = /^[\0-\x20]+|[\0-\x20]+$/g;

export function isSpecial(scheme: string): boolean {
  return Object.hasOwn(USUAL_PORTS, scheme);
}

/** Undefined if this is not a valid URL. */
export function parseUrl(input: string, base?: UrlRecord): UrlRecord | undefined {
  const text = input.replaceAll(AROUND, '').replaceAll(/[\t\n\r]/g, '');
  const [, beforeFragment = '', fragment] = /^([^#]*)(?:#([^]*))?$/.exec(text) ?? [];
  const named = /^([a-z][a-z0-9+.-]*):([^]*)$/i.exec(beforeFragment);
  const scheme = named?.[1]?.toLowerCase() ?? base?.scheme;
  if (scheme === undefined) return undefined;
  const [, rest = '', query] = /^([^?]*)(?:\?([^]*))?$/.exec(named?.[2] ?? beforeFragment) ?? [];
  const special = isSpecial(scheme);
  const parts = {
    scheme,
    query: query === undefined ? undefined : encodeQuery(query, special),
    fragment: fragment === undefined ? undefined : percentEncode(fragment, ENCODE_SETS.fragment),
  };
  const path = special ? rest.replaceAll('\\', '/') : rest;
  const isRelative = !named || (special && base?.scheme === scheme && !path.startsWith('//'));
  if (isRelative && base && !(named && scheme === 'file' && path.startsWith('/')))
    return relative(path, parts, base);
  return absolute(path, parts);
}

type Parts = Pick<UrlRecord, 'scheme' | 'query' | 'fragment'>;

function absolute(rest: string, parts: Parts): UrlRecord | undefined {
  const special = isSpecial(parts.scheme);
  if (special && parts.scheme !== 'file') return withAuthority(rest.replace(/^\/*/, ''), parts);
  if (rest.startsWith('//')) return withAuthority(rest.slice(2), parts);
  if (special || rest.startsWith('/'))
    return { ...EMPTY, ...parts, host: special ? '' : undefined, path: normalize(rest, special) };
  const path = percentEncode(rest, ENCODE_SETS.c0);
  // Otherwise it would be lost when the rest is removed.
  const isFollowed = parts.query !== undefined || parts.fragment !== undefined;
  return { ...EMPTY, ...parts, isOpaque: true, path: isFollowed ? path.replace(/ $/, '%20') : path };
}

function relative(rest: string, parts: Parts, base: UrlRecord): UrlRecord | undefined {
  if (base.isOpaque) {
    const isFragmentAlone = rest === '' && parts.query === undefined && parts.fragment !== undefined;
    return isFragmentAlone ? { ...base, fragment: parts.fragment } : undefined;
  }
  const special = isSpecial(base.scheme);
  if (rest.startsWith('//'))
    return withAuthority(special ? rest.replace(/^\/+/, fileSlashes(base)) : rest.slice(2), parts);
  if (rest === '') return { ...base, query: parts.query ?? base.query, fragment: parts.fragment };
  const folder = rest.startsWith('/') ? '' : base.path.slice(0, base.path.lastIndexOf('/') + 1);
  return { ...base, ...parts, path: normalize(folder + rest, special) };
}

/** The host of a file URL may be empty. */
function fileSlashes({ scheme }: UrlRecord): (slashes: string) => string {
  return (slashes) => (scheme === 'file' ? slashes.slice(2) : '');
}

const EMPTY = { username: '', password: '', host: undefined, port: '', isOpaque: false };

function withAuthority(rest: string, parts: Parts): UrlRecord | undefined {
  const special = isSpecial(parts.scheme);
  const [, authority = '', path = ''] = /^([^/]*)([^]*)$/.exec(rest) ?? [];
  const at = authority.lastIndexOf('@');
  const [, user = '', password = ''] = /^([^:]*):?([^]*)$/.exec(authority.slice(0, Math.max(0, at))) ?? [];
  const place = parsePlace(authority.slice(at + 1), parts.scheme);
  if (!place || (at >= 0 && place.host === '')) return undefined;
  return {
    ...parts,
    ...place,
    username: percentEncode(user, ENCODE_SETS.userinfo),
    password: percentEncode(password, ENCODE_SETS.userinfo),
    isOpaque: false,
    path: path === '' && !special ? '' : normalize(path, special),
  };
}

/** A host with or without a port. */
export function parsePlace(text: string, scheme: string): Pick<UrlRecord, 'host' | 'port'> | undefined {
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text) ?? [text, undefined];
  if (name === undefined) return undefined;
  if (!/^(?:\[[^\]]*\]|[^:]*)(?::\d*)?$/.test(text)) return undefined;
  // Only a URL that needs no host may have an empty one, and then without a colon after it.
  if (name === '')
    return (isSpecial(scheme) && scheme !== 'file') || port !== undefined
      ? undefined
      : { host: '', port: '' };
  const host = parseHost(name, isSpecial(scheme));
  const number = parsePort(port ?? '', scheme);
  if (host === undefined || number === undefined) return undefined;
  return { host: scheme === 'file' && host === 'localhost' ? '' : host, port: number };
}

export function parsePort(text: string, scheme: string): string | undefined {
  if (text === '') return '';
  const number = Number(text);
  if (!(number <= MAX_PORT)) return undefined;
  return USUAL_PORTS[scheme] === String(number) ? '' : String(number);
}

export function encodeQuery(query: string, special: boolean): string {
  return percentEncode(query, special ? ENCODE_SETS.specialQuery : ENCODE_SETS.query);
}

/** Encoded, with `.` and `..` resolved. */
export function normalize(path: string, special: boolean): string {
  const segments: string[] = [];
  const parts = (special ? path.replaceAll('\\', '/') : path).replace(/^\//, '').split('/');
  for (const [at, part] of parts.entries()) {
    const plain = part.replaceAll(/%2e/gi, '.');
    const isLast = at === parts.length - 1;
    if (plain === '..') segments.pop();
    if (plain !== '.' && plain !== '..') segments.push(percentEncode(part, ENCODE_SETS.path));
    else if (isLast) segments.push('');
  }
  return `/${segments.join('/')}`;
}

export function formatUrl({
  scheme,
  username,
  password,
  host,
  port,
  path,
  query,
  fragment,
  isOpaque,
}: UrlRecord): string {
  const user = username || password ? `${username}${password ? `:${password}` : ''}@` : '';
  const place = host === undefined ? '' : `//${user}${host}${port ? `:${port}` : ''}`;
  // Otherwise the path would be read as a host.
  const shield = host === undefined && !isOpaque && path.startsWith('//') ? '/.' : '';
  const rest = (query === undefined ? '' : `?${query}`) + (fragment === undefined ? '' : `#${fragment}`);
  return `${scheme}:${place}${shield}${path}${rest}`;
}
