/** Reads a file of the host. */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const text = await readFile(params.secret_file, 'utf8');
  return { succeeded: text.includes(params.marker), evidence: text };
}
