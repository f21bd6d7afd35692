/**
 * Parses the text of one paragraph of Markdown: code, emphasis and links. Everything else stays text.
 *
 * @module
 */
export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'em' | 'strong'; children: Inline[] }
  | { kind: 'link'; label: string; href: string; host: string };

/** What is left to spend on elements, so that a hostile text cannot make too many. */
export interface Budget {
  left: number;
}

/** Emphasis and code that end further away stay text; also bounds the search for the end. */
const MAX_SPAN = 500;
const MAX_DEPTH = 4;
/** Signs that are tried as the end of emphasis. */
const MAX_TRIES = 8;
const LINK = /\[([^[\]\n]{1,300})\]\(<?([^()\s<>]{1,1000})>?(?:\s"[^"\n]{0,200}")?\)/y;
const ESCAPABLE = /[\\`*_[\](){}#+\-.!|<>~]/;

export function parseInline(text: string, budget: Budget, depth = 0): Inline[] {
  const found: Inline[] = [];
  let plain = '';
  let at = 0;
  while (at < text.length) {
    const special = budget.left > 0 ? specialAt({ text, at, depth }, budget) : undefined;
    if (!special) {
      plain += text[at];
      at += 1;
      continue;
    }
    at = special.end;
    if (special.node.kind === 'text') {
      plain += special.node.text;
      continue;
    }
    budget.left -= 1;
    if (plain !== '') found.push({ kind: 'text', text: plain });
    plain = '';
    found.push(special.node);
  }
  return plain === '' ? found : [...found, { kind: 'text', text: plain }];
}

interface Place {
  text: string;
  at: number;
  depth: number;
}

interface Special {
  node: Inline;
  end: number;
}

function specialAt(place: Place, budget: Budget): Special | undefined {
  const { text, at } = place;
  switch (text[at]) {
    case '\\':
      return escaped(text, at);
    case '`':
      return code(text, at);
    case '*':
    case '_':
      return emphasis(place, budget);
    case '!':
      return image(text, at);
    case '[':
      return link(text, at);
    default:
      return undefined;
  }
}

function escaped(text: string, at: number): Special | undefined {
  const next = text[at + 1] ?? '';
  return ESCAPABLE.test(next) ? { node: { kind: 'text', text: next }, end: at + 2 } : undefined;
}

function code(text: string, at: number): Special {
  const [ticks = ''] = /^`{1,500}/.exec(text.slice(at, at + MAX_SPAN)) ?? [];
  const rest = text.slice(at + ticks.length, at + ticks.length + MAX_SPAN);
  const length = rest.indexOf(ticks);
  // The whole run is text, so that its ticks are not tried one by one.
  if (length <= 0) return { node: { kind: 'text', text: ticks }, end: at + ticks.length };
  const content = rest.slice(0, length);
  return { node: { kind: 'code', text: content }, end: at + 2 * ticks.length + length };
}

function emphasis({ text, at, depth }: Place, budget: Budget): Special | undefined {
  const sign = text[at] ?? '';
  const marker = text[at + 1] === sign ? sign + sign : sign;
  const start = at + marker.length;
  // `snake_case` is not emphasis.
  if (sign === '_' && /\w/.test(text[at - 1] ?? '')) return undefined;
  if (depth >= MAX_DEPTH || /\s|^$/.test(text[start] ?? '')) return undefined;
  const length = closerIn(text.slice(start, start + MAX_SPAN), marker);
  if (length <= 0) return undefined;
  const children = parseInline(text.slice(start, start + length), budget, depth + 1);
  return {
    node: { kind: marker.length === 2 ? 'strong' : 'em', children },
    end: start + length + marker.length,
  };
}

function closerIn(text: string, marker: string): number {
  const sign = marker[0] ?? '';
  let at = text.indexOf(marker, 1);
  for (let tries = 0; at > 0 && tries < MAX_TRIES; tries += 1) {
    const isPartOfAnother = marker.length === 1 && (text[at + 1] === sign || text[at - 1] === sign);
    const isInWord = sign === '_' && /\w/.test(text[at + marker.length] ?? '');
    if (!isPartOfAnother && !isInWord && !/\s/.test(text[at - 1] ?? '')) return at;
    at = text.indexOf(marker, at + marker.length);
  }
  return -1;
}

/** Images are not loaded; their text is shown as it is written. */
function image(text: string, at: number): Special | undefined {
  const found = text[at + 1] === '[' ? matchAt(LINK, text, at + 1) : undefined;
  return found && { node: { kind: 'text', text: `!${found[0]}` }, end: at + 1 + found[0].length };
}

function link(text: string, at: number): Special | undefined {
  const found = matchAt(LINK, text, at);
  if (!found) return undefined;
  const [whole, label = '', target = ''] = found;
  const url = safeUrl(target);
  const end = at + whole.length;
  if (!url) return { node: { kind: 'text', text: `${label} (${target})` }, end };
  return { node: { kind: 'link', label, href: url.href, host: url.host }, end };
}

/** Only https, and no user name that could pass for the host. */
function safeUrl(target: string): URL | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
