/** Answers with something that is not JSON. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => reply('{"a":'));
  return { succeeded: false };
}
