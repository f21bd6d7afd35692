/**
 * What the tokens of a source suggest about its needs: modules, variables, hosts, requests. Other code decides what
 * follows from them.
 *
 * @module
 */
import { tokens, type Token } from './lexer.ts';

export interface Finding {
  value: string;
  /** `skill.ts:12` */
  at: string;
}

export interface Findings {
  /** Import specifiers, as written. */
  imports: Finding[];
  env: Finding[];
  hosts: Finding[];
  /** Calls of `fetch`. */
  fetches: Finding[];
  /** Skills that it calls by name, as `category/name`. */
  calls: Finding[];
}

const HOST = /^(?:https?|wss?):\/\/(?:[^/?#@\s]*@)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?=[:/?#]|$)/i;
const ENV_NAME = /^[A-Za-z_]\w*$/;
const SKILL = /^[a-z0-9][a-z0-9_-]{0,99}\/[a-z0-9][a-z0-9_-]{0,99}$/;
const DECLARES: ReadonlySet<string> = new Set(['const', 'let', 'var', 'function', 'class', 'import']);
const MAX_VALUE = 1000;
/** Maximum number of tokens of one pattern that are examined. */
const MAX_TAKEN_APART = 400;

export function findIn(source: string, file: string): Findings {
  const words = [...tokens(source)];
  const hasOwnEnv = words.some(({ kind, value }) => kind === 'text' && value === 'skillcell:env');
  const hasOwnSkills = words.some((_, at) => isDeclared(words, at, 'skills'));
  const found: Findings = { imports: [], env: [], hosts: [], fetches: [], calls: [] };
  const add = (kind: keyof Findings, value: string, { line }: Token): void =>
    void found[kind].push({ value: value.slice(0, MAX_VALUE), at: `${file}:${line}` });
  for (const [at, word] of words.entries()) {
    const imported = importAt(words, at);
    if (imported) add('imports', imported.value, imported);
    for (const name of envAt(words, at, hasOwnEnv)) add('env', name, word);
    const host = hostIn(word);
    if (host !== undefined) add('hosts', host, word);
    if (isFetch(words, at)) add('fetches', 'fetch', word);
    const called = hasOwnSkills ? undefined : callAt(words, at);
    if (called !== undefined) add('calls', called, word);
  }
  return found;
}

function importAt(words: Token[], at: number): Token | undefined {
  const word = words[at];
  const [next, second] = [words[at + 1], words[at + 2]];
  if (word?.kind !== 'name' || isProperty(words, at)) return undefined;
  if ((word.value === 'from' || word.value === 'import') && next?.kind === 'text') return next;
  const isCall = word.value === 'import' && next?.value === '(' && next.kind === 'mark';
  return isCall && second?.kind === 'text' ? second : undefined;
}

/** `process.env.NAME`, `process.env['NAME']`, `const { NAME } = process.env`, `requireEnv('NAME')`; also our own `env`. */
function envAt(words: Token[], at: number, hasOwnEnv: boolean): string[] {
  const word = words[at];
  if (word?.kind !== 'name') return [];
  if (word.value === 'requireEnv') return textBetween(words, at + 1, '()');
  if (word.value !== 'env') return [];
  const isOwn = words[at - 1]?.value === '.' && words[at - 2]?.value === 'process';
  if (!isOwn && (isProperty(words, at) || !hasOwnEnv)) return [];
  const next = words[at + 1];
  const name = words[words[at + 1]?.value === '?' ? at + 3 : at + 2];
  if (next?.value === '[') return textBetween(words, at + 1, '[]');
  if ((next?.value === '.' || next?.value === '?') && name?.kind === 'name') return named([name.value]);
  return named(takenApart(words, isOwn ? at - 3 : at - 1));
}

/** A string that is the only token between these marks. */
function textBetween(words: Token[], at: number, marks: string): string[] {
  const [open, text, close] = words.slice(at, at + 3);
  const isThere = open?.value === marks[0] && text?.kind === 'text' && close?.value === marks[1];
  return isThere ? named([text.value]) : [];
}

/** Names in `{ A, B: other, C = 1 } =`, whose equals sign is at this index. */
function takenApart(words: Token[], equals: number): string[] {
  if (words[equals]?.value !== '=' || words[equals - 1]?.value !== '}') return [];
  const names: string[] = [];
  for (let at = equals - 2; at > equals - MAX_TAKEN_APART && words[at]?.value !== '{'; at--) {
    const [before, word] = [words[at - 1]?.value, words[at]];
    if (word?.kind === 'name' && (before === ',' || before === '{')) names.push(word.value);
  }
  return names.toReversed();
}

function named(names: string[]): string[] {
  return names.filter((name) => ENV_NAME.test(name));
}

function hostIn({ kind, value, isCut }: Token): string | undefined {
  if (kind !== 'text' && kind !== 'template') return undefined;
  const [whole, host] = HOST.exec(value) ?? [];
  // A variable may supply the rest of the name.
  return isCut && whole?.length === value.length ? undefined : host?.toLowerCase();
}

function isFetch(words: Token[], at: number): boolean {
  const [word, next] = [words[at], words[at + 1]];
  if (word?.kind !== 'name' || word.value !== 'fetch' || next?.value !== '(') return false;
  if (words[at - 1]?.value === 'function') return false;
  return !isProperty(words, at) || words[at - 2]?.value === 'globalThis';
}

/** `skills.text.word_stats(`, `skills['text/word_stats'](` */
function callAt(words: Token[], at: number): string | undefined {
  const [word, first, category, second, name, open] = words.slice(at, at + 6);
  if (word?.kind !== 'name' || word.value !== 'skills' || isProperty(words, at)) return undefined;
  const isKey = first?.value === '[' && category?.kind === 'text' && second?.value === ']';
  if (isKey) return SKILL.test(category.value) && name?.value === '(' ? category.value : undefined;
  const isPath = first?.value === '.' && second?.value === '.' && open?.value === '(';
  const whole = `${category?.value ?? ''}/${name?.value ?? ''}`;
  return isPath && SKILL.test(whole) ? whole : undefined;
}

/** Whether the source has a binding of its own with this name; parameters are not found. */
function isDeclared(words: Token[], at: number, name: string): boolean {
  const [before, word] = [words[at], words[at + 1]];
  if (before?.kind !== 'name' || word?.kind !== 'name' || word.value !== name) return false;
  return DECLARES.has(before.value);
}

function isProperty(words: Token[], at: number): boolean {
  return words[at - 1]?.kind === 'mark' && words[at - 1]?.value === '.';
}
