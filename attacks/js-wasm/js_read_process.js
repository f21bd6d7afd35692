/** Reads the environment of a process by path. */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const text = await readFile('/proc/self/environ', 'utf8');
  return { succeeded: text.includes(params.marker), evidence: text };
}
