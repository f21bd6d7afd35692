/** Answers twice. */
import { hijack } from './hijack.js';

export function execute() {
  hijack((reply) => {
    reply('{"succeeded":false}');
    reply('{"succeeded":true}');
  });
  return { succeeded: false };
}
