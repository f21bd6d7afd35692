/**
 * What can come next on a command line, derived from the tree of commands.
 *
 * @module
 */
import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  word: string;
  about: string;
}

export interface Completion {
  candidates: Candidate[];
  /** What the shell should add: files, folders, or ids of skills. */
  also: 'files' | 'skills' | 'nothing';
}

const NOTHING: Completion = { candidates: [], also: 'nothing' };

/** `words`: everything after `skillcell`; the last one is the word under the cursor, possibly empty. */
export function candidatesFor(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, pending, operands, ended } = walk(program, words.slice(0, -1));
  if (pending) return completeValue(pending, current);
  if (!ended && current.startsWith('-')) return completeOption(command, current);
  const visible = command.createHelp().visibleCommands(command);
  if (operands === 0 && visible.length > 0)
    return matching(
      visible.map((one) => candidate(one.name(), one.description())),
      current,
    );
  return completeArgument(argumentAt(command, operands), current);
}

interface Position {
  command: Command;
  /** An option whose value is the next word. */
  pending: Option | undefined;
  operands: number;
  /** After `--`, everything is an argument. */
  ended: boolean;
}

function walk(program: Command, words: readonly string[]): Position {
  const at: Position = { command: program, pending: undefined, operands: 0, ended: false };
  for (const word of words) {
    if (at.pending) at.pending = undefined;
    else if (at.ended) at.operands++;
    else if (word === '--') at.ended = true;
    else if (word.startsWith('-')) at.pending = takesValue(at.command, word);
    else {
      const next = at.operands === 0 ? at.command.commands.find((one) => one.name() === word) : undefined;
      if (next) at.command = next;
      else at.operands++;
    }
  }
  return at;
}

function takesValue(command: Command, word: string): Option | undefined {
  const option = command.options.find(({ long, short }) => word === long || word === short);
  return option && (option.required || option.optional) ? option : undefined;
}

function completeOption(command: Command, current: string): Completion {
  const options = command.createHelp().visibleOptions(command);
  return matching(
    options.flatMap(({ long, description }) => (long ? [candidate(long, description)] : [])),
    current,
  );
}

function completeValue({ argChoices, flags }: Option, current: string): Completion {
  if (argChoices)
    return matching(
      argChoices.map((choice) => candidate(choice, '')),
      current,
    );
  return /<(?:file|dir|folder|path)>/.test(flags) ? { candidates: [], also: 'files' } : NOTHING;
}

function completeArgument(argument: Argument | undefined, current: string): Completion {
  if (!argument) return NOTHING;
  if (argument.argChoices)
    return matching(
      argument.argChoices.map((choice) => candidate(choice, '')),
      current,
    );
  const name = argument.name();
  if (name === 'skill' || name === 'skills') return { candidates: [], also: 'skills' };
  return name === 'file' || name === 'folder' ? { candidates: [], also: 'files' } : NOTHING;
}

function argumentAt({ registeredArguments }: Command, at: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[at] ?? (last?.variadic ? last : undefined);
}

function matching(all: readonly Candidate[], current: string): Completion {
  return { candidates: all.filter(({ word }) => word.startsWith(current)), also: 'nothing' };
}

function candidate(word: string, about: string): Candidate {
  return { word, about };
}
