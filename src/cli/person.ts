/**
 * Asks the person at the terminal. If stdin or stderr is redirected, there is no one to ask.
 *
 * @module
 */
import { userInfo } from 'node:os';
import { type AskPerson, type Question, printableLine } from '../inside.ts';
import { printNote } from './output.ts';

export function personAtTerminal(): { askPerson?: AskPerson } {
  return process.stdin.isTTY && process.stderr.isTTY ? { askPerson: ask } : {};
}

async function ask(question: Question): Promise<boolean> {
  printNote(describeQuestion(question));
  return isYes('Approve? [y/N] ');
}

/** Undefined if there is no one to ask. Throws an `AbortError` on Ctrl-C, and when the signal says so. */
export async function confirmed(question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  return process.stdin.isTTY && process.stderr.isTTY ? isYes(question, signal) : undefined;
}

/** The name of whoever decides. In a container the user often has a number but no name. */
export function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function isYes(question: string, signal?: AbortSignal): Promise<boolean> {
  // Most commands ask nothing.
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(question, signal ? { signal } : {})).trim());
  } finally {
    lines.close();
  }
}

export function describeQuestion({ skill, digest, lines }: Question): string {
  return [`${skill} (${digest.slice(0, 19)}…)`, ...lines].map(printableLine).join('\n  ');
}
