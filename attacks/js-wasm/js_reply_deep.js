/** Answers with JSON nested a hundred thousand levels deep. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => reply('['.repeat(100_000) + ']'.repeat(100_000)));
  return { succeeded: false };
}
