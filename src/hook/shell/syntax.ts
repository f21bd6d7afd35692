/**
 * What the reader of shell commands returns. Every position is an offset into the text of the command, so that a command is
 * changed by inserting text, never by printing it again.
 *
 * @module
 */

/** A piece of a word, after quotes and backslashes were removed. */
export type Part =
  | { kind: 'text'; text: string; quoted: boolean }
  /** `$NAME` or `${NAME}`. */
  | { kind: 'parameter'; name: string; quoted: boolean }
  /** The user's home: `~` at the start of a word. */
  | { kind: 'home' }
  /** Anything else that only the shell can compute; `raw` is its text. */
  | { kind: 'computed'; raw: string };

/** A script inside a word: `$( )`, backquotes, `<( )`, or the text of a here-document. */
export interface Nested {
  items: Item[];
  /** Whether text may be inserted at the positions of its words. */
  editable: boolean;
}

export interface Word {
  start: number;
  end: number;
  parts: Part[];
  nested: Nested[];
}

export interface Assignment {
  name: string;
  value: Word;
}

export interface Redirection {
  operator: string;
  target: Word;
  /** The text of a here-document. */
  body?: string;
}

export interface SimpleCommand {
  kind: 'simple';
  assignments: Assignment[];
  words: Word[];
  redirections: Redirection[];
}

/** `for NAME in WORDS`, and the words between `[[` and `]]`, which run nothing. */
export interface WordList {
  kind: 'for' | 'test';
  name: string;
  words: Word[];
}

export type Item =
  | SimpleCommand
  | WordList
  | { kind: 'operator'; text: string }
  /** `(`, `{`, `if`, `while`, `do` and the like. */
  | { kind: 'open'; text: string }
  | { kind: 'close'; text: string };

/** Thrown for syntax that the reader does not know. The command may still be fine: the caller decides. */
export class NotUnderstood extends Error {}
