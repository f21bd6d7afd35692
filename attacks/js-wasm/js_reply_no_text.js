/** Answers with values that are not strings. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => {
    for (const odd of [Symbol('x'), {}, null, 1n])
      try {
        reply(odd);
      } catch {}
  });
  return { succeeded: false };
}
