/**
 * What a whole command contains, before its parts are judged one by one.
 *
 * @module
 */
import { plainText } from './shell/word-reader.ts';
import type { Item, Word } from './shell/syntax.ts';

/** Builtins that set the variables named by their arguments. */
const SETTERS = new Set(
  'read mapfile readarray printf getopts declare typeset local export readonly unset let wait'.split(' '),
);
const WRAPPERS = new Set(['command', 'builtin']);
/** Stands for a variable whose name is computed: every variable may have changed. */
export const ANY_NAME = '*';

/** How often each variable is set anywhere in the command. */
export function assignedNames(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string): unknown => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const item of everyItem(items)) {
    for (const word of wordsOf(item)) for (const name of namesSetIn(word)) count(name);
    if (item.kind === 'for') count(item.name);
    if (item.kind !== 'simple') continue;
    for (const { name } of item.assignments) count(name);
    for (const name of namesSetBy(item.words)) count(name);
  }
  return counts;
}

function namesSetBy(words: readonly Word[]): string[] {
  const start = words.findIndex((word) => !WRAPPERS.has(plainText(word) ?? ''));
  const [first, ...others] = words.slice(Math.max(0, start));
  const program = first === undefined ? '' : (plainText(first) ?? '');
  if (program === 'eval') return [ANY_NAME];
  if (!SETTERS.has(program)) return [];
  const option = program === 'printf' ? '-v' : program === 'wait' ? '-p' : undefined;
  const at = option === undefined ? -1 : others.findIndex((word) => plainText(word) === option);
  if (option !== undefined && at === -1) return [];
  return others.slice(at + 1).flatMap((word) => {
    const text = firstText(word);
    // `declare -n` gives a variable a second name.
    if (word.parts[0]?.kind !== 'text' || /^-[a-zA-Z]*n/.test(text))
      return program === 'read' ? [] : [ANY_NAME];
    return /^[A-Za-z_]\w*/.exec(text) ?? [];
  });
}

/** `${NAME:=value}` and `$((NAME=1))` set variables inside any word. */
function namesSetIn({ parts }: Word): string[] {
  const raw = parts.flatMap((part) => (part.kind === 'computed' ? [part.raw] : []));
  return raw.flatMap((text) =>
    [...text.matchAll(/([A-Za-z_]\w*)(?:\[[^\]]*\])?:?=/g)].map(([, name = '']) => name),
  );
}

/** Also of a word such as `NAME="$x"`. */
function firstText(word: Word): string {
  const [first] = word.parts;
  return first?.kind === 'text' ? first.text : '';
}

/** The targets of every `cd`. */
export function changesOfFolder(items: readonly Item[]): Word[] {
  return items.flatMap((item) => {
    if (
      item.kind !== 'simple' ||
      !/^(?:cd|pushd)$/.test(item.words[0] === undefined ? '' : (plainText(item.words[0]) ?? ''))
    )
      return [];
    return item.words.slice(1, 2);
  });
}

function everyItem(items: readonly Item[]): Item[] {
  return items.flatMap((item) => [
    item,
    ...wordsOf(item).flatMap((word) => word.nested.flatMap((nested) => everyItem(nested.items))),
  ]);
}

function wordsOf(item: Item): Word[] {
  if (item.kind === 'for' || item.kind === 'test') return item.words;
  if (item.kind !== 'simple') return [];
  return [
    ...item.assignments.map(({ value }) => value),
    ...item.words,
    ...item.redirections.map(({ target }) => target),
  ];
}
