/** Answers with more than the limit. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => reply(`"${'x'.repeat(20 * 1024 * 1024)}"`));
  return { succeeded: false };
}
