/**
 * What a whole command contains, before its parts are judged one by one.
 *
 * @module
 */
import { plainText } from './shell/word-reader.ts';
import type { Item, Word } from './shell/syntax.ts';

/** Builtins that set the variables named by their arguments. */
const SETTERS = new Set(
  'read mapfile readarray printf getopts declare typeset local export readonly unset let'.split(' '),
);

/** How often each variable is set anywhere in the command. */
export function assignedNames(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string): unknown => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const item of everyItem(items)) {
    if (item.kind === 'for') count(item.name);
    if (item.kind !== 'simple') continue;
    for (const { name } of item.assignments) count(name);
    const [first, ...others] = item.words;
    if (first === undefined || !SETTERS.has(plainText(first) ?? '')) continue;
    for (const word of others) {
      const [name] = /^[A-Za-z_]\w*/.exec(firstText(word)) ?? [];
      if (name !== undefined) count(name);
    }
  }
  return counts;
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
