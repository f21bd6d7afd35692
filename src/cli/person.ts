/**
 * The person at the terminal. There is none when input or messages go somewhere else: then nobody is asked.
 *
 * @module
 */
import { createInterface } from 'node:readline/promises';
import { printableLine, type AskPerson, type Question } from '../index.ts';
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
