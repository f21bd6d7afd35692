/**
 * Tells which commands get their standard input from the command line itself, by a pipe or a redirection. All others would
 * get that of the agent, which nobody writes to and which may never end.
 *
 * @module
 */
import type { Item, Redirection, SimpleCommand } from './shell/syntax.ts';
import type { Surroundings } from './surroundings.ts';

/** A group, a subshell, an `if` or a loop. */
interface Compound {
  isFed: boolean;
  isLoop: boolean;
  /** Commands that share its standard input. */
  sharing: SimpleCommand[];
}

const LOOPS = new Set(['while', 'until', 'for']);
const COMPOUNDS = new Set([...LOOPS, 'if', '{', '(']);

/** `isFed` says whether all of it gets input from outside, as in `cat a | bash -c '…'`. */
export function fedCommands(items: readonly Item[], isFed: boolean): ReadonlySet<SimpleCommand> {
  const fed = new Set<SimpleCommand>();
  const whole: Compound = { isFed, isLoop: false, sharing: [] };
  const open: Compound[] = [whole];
  let afterPipe = false;
  for (const [at, item] of items.entries()) {
    const inner = open.at(-1) ?? whole;
    if (item.kind === 'operator') {
      afterPipe = item.text === '|' || item.text === '|&';
      continue;
    }
    if (item.kind === 'simple') {
      if (afterPipe || readsFile(item)) fed.add(item);
      else inner.sharing.push(item);
      if (replacesInput(item)) inner.isFed = true;
    } else if (item.kind === 'close' && open.length > 1) close(open, items[at + 1], fed);
    else if (item.kind === 'open' && COMPOUNDS.has(item.text))
      open.push({ isFed: afterPipe, isLoop: LOOPS.has(item.text), sharing: [] });
    // `for` is preceded by its words.
    afterPipe &&= item.kind === 'for' || item.kind === 'test';
  }
  if (whole.isFed) for (const command of whole.sharing) fed.add(command);
  return fed;
}

/**
 * The input of a loop is for the loop: `while read f; do python x.py "$f"; done < list`. A script in it that took all of
 * the input would end the loop.
 */
function close(open: Compound[], next: Item | undefined, fed: Set<SimpleCommand>): void {
  const { isFed, isLoop, sharing } = open.pop() ?? { isFed: false, isLoop: true, sharing: [] };
  if (isLoop) return;
  // `{ …; } < file` is read as a command without words.
  const isRedirected = next?.kind === 'simple' && next.words.length === 0 && readsFile(next);
  if (isFed || isRedirected) for (const command of sharing) fed.add(command);
  else open.at(-1)?.sharing.push(...sharing);
}

function readsFile({ redirections }: SimpleCommand): boolean {
  return redirections.some(({ operator }) => operator.startsWith('<'));
}

/** `exec < file` changes the input of everything that follows. */
function replacesInput(command: SimpleCommand): boolean {
  const [first, second] = command.words;
  const [part] = first?.parts ?? [];
  return second === undefined && part?.kind === 'text' && part.text === 'exec' && readsFile(command);
}

/** Whether the shell puts something into the text of a here-document. */
export function isExpanded(document: Redirection | undefined): boolean {
  if (document?.body === undefined || !/[$`]/.test(document.body)) return false;
  return document.target.parts.every((part) => part.kind === 'text' && !part.quoted);
}

/** The text of a here-document or here-string; undefined for a file, and for text that the shell computes. */
export function codeIn(input: Redirection | undefined, around: Surroundings): string | undefined {
  if (input === undefined || input.body !== undefined) return input?.body;
  return input.operator === '<<<' ? around.resolve(input.target).text : undefined;
}
