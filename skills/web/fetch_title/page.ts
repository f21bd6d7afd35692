/**
 * What a page says about itself. A page is hostile text: everything here runs in linear time, and nothing is put
 * together to markup again.
 */

export interface Facts {
  title: string;
  description: string;
  site_name: string;
  language: string;
  canonical: string;
  headings: string[];
}

const MAX_TEXT = 500;
/** Elements whose content is no text of the page. */
const OPAQUE = new Set(['script', 'style', 'noscript', 'template', 'svg', 'textarea', 'iframe']);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', mdash: '—', hellip: '…', copy: '©', reg: '®',
  lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', middot: '·', bull: '•', euro: '€', times: '×',
  auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç',
};

interface Tag {
  name: string;
  isEnd: boolean;
  attributes: Map<string, string>;
}

type Piece = Tag | string;

/** Reads the page from front to back, once. */
export function factsOf(html: string, { headings: wanted, base }: { headings: number; base: string }): Facts {
  const meta = new Map<string, string>();
  const facts: Facts = { title: '', description: '', site_name: '', language: '', canonical: '', headings: [] };
  let open: { name: string; text: string } | undefined;
  let seenTitle = false;
  for (const piece of pieces(html)) {
    if (typeof piece === 'string') {
      if (open && open.text.length < MAX_TEXT * 4) open.text += piece;
      continue;
    }
    const { name, isEnd, attributes } = piece;
    if (open && isEnd && name === open.name) {
      const text = clean(open.text);
      if (name === 'title') facts.title ||= text;
      else if (text !== '' && facts.headings.length < wanted) facts.headings.push(text);
      open = undefined;
    } else if (!isEnd && (/^h[1-3]$/.test(name) || (name === 'title' && !seenTitle))) {
      seenTitle ||= name === 'title';
      open = { name, text: '' };
    } else if (name === 'html') facts.language ||= clean(attributes.get('lang') ?? '');
    else if (name === 'meta') remember(meta, attributes);
    else if (name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attributes.get('rel') ?? ''))
      facts.canonical ||= absolute(attributes.get('href') ?? '', base);
  }
  if (open?.name === 'title') facts.title ||= clean(open.text);
  facts.title ||= meta.get('og:title') ?? meta.get('twitter:title') ?? '';
  facts.description = meta.get('description') ?? meta.get('og:description') ?? meta.get('twitter:description') ?? '';
  facts.site_name = meta.get('og:site_name') ?? '';
  facts.language ||= meta.get('og:locale') ?? '';
  return facts;
}

function remember(meta: Map<string, string>, attributes: Map<string, string>): void {
  const key = (attributes.get('name') ?? attributes.get('property') ?? '').toLowerCase();
  const value = clean(attributes.get('content') ?? '');
  if (key !== '' && value !== '' && !meta.has(key)) meta.set(key, value);
}

/** Tags and the text between them. */
function* pieces(html: string): Generator<Piece> {
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf('<', at);
    if (start === -1) {
      yield html.slice(at);
      return;
    }
    if (start > at) yield html.slice(at, start);
    if (html.startsWith('<!--', start)) {
      const end = html.indexOf('-->', start + 4);
      if (end === -1) return;
      at = end + 3;
      continue;
    }
    const next = html.charAt(start + 1);
    if (!/[a-zA-Z/!?]/.test(next)) {
      yield '<';
      at = start + 1;
      continue;
    }
    const end = endOfTag(html, start + 1);
    if (end === -1) return;
    const tag = readTag(html.slice(start + 1, end));
    at = end + 1;
    if (tag) yield tag;
    if (tag && !tag.isEnd && OPAQUE.has(tag.name)) at = skipOpaque(html, at, tag.name);
  }
}

/** A `>` in quotes does not end a tag. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at += 1) {
    const character = html.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') return at;
    else if ((character === '"' || character === "'") && html.charAt(at - 1) === '=') quote = character;
  }
  return -1;
}

function skipOpaque(html: string, from: number, name: string): number {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  closing.lastIndex = from;
  return closing.exec(html)?.index ?? html.length;
}

function readTag(text: string): Tag | undefined {
  const name = /^\/?([a-zA-Z][a-zA-Z0-9-]*)/.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const attributes = new Map<string, string>();
  if (!/^(?:html|meta|link)$/.test(name)) return { name, isEnd: text.startsWith('/'), attributes };
  for (const [, key = '', double, single, bare] of text.matchAll(
    /\s([^\s=/>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g,
  )) {
    const lower = key.toLowerCase();
    if (!attributes.has(lower)) attributes.set(lower, decode(double ?? single ?? bare ?? ''));
  }
  return { name, isEnd: text.startsWith('/'), attributes };
}

/** One line of text, without characters that steer a terminal or hide text. */
function clean(text: string): string {
  const line = decode(text)
    .replaceAll(/[\p{Cc}\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\s]+/gu, ' ')
    .trim();
  const points = Array.from(line);
  return points.length > MAX_TEXT ? `${points.slice(0, MAX_TEXT - 1).join('')}…` : line;
}

function decode(text: string): string {
  return text.replaceAll(/&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});/g, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? whole;
    const point = /^#[xX]/.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : '\ufffd';
  });
}

/** Empty for what is no address of the web. */
function absolute(href: string, base: string): string {
  try {
    const url = new URL(href.trim(), base);
    return /^https?:$/.test(url.protocol) ? url.href : '';
  } catch {
    return '';
  }
}
