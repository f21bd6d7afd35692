/**
 * Asks the person at the terminal. If stdin or stderr is redirected, there is no one to ask.
 *
 * @module
 */
import { createInterface } from 'node:readline/promises';
import { type AskPerson, type Question, printableLine } from '../inside.ts';
import { printNote } from './output.ts';

export function personAtTerminal(): { askPerson?: AskPerson } {
  return process.stdin.isTTY && process.stderr.isTTY ? { askPerson: ask } : {};
}

async function ask(question: Question): Promise<boolean> {
  printNote(describeQuestion(question));
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question('Approve? [y/N] ');
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

export function describeQuestion({ skill, digest, lines }: Question): string {
  return [`${skill} (${digest.slice(0, 19)}…)`, ...lines].map(printableLine).join('\n  ');
}
