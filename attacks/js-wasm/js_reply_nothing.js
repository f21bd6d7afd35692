/** Removes the answer. */
import { hijack } from './hijack.js';

export function execute() {
  hijack(() => undefined);
  return { succeeded: false };
}
