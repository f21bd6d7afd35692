/** Answers with a key that changes the prototype. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => reply('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'));
  return { succeeded: false };
}
