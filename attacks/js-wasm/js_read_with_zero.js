/** Puts a NUL into the middle of a path. */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const text = await readFile(`/skill/skill.js/../..${params.secret_file}\0.txt`, 'utf8');
  return { succeeded: text.includes(params.marker), evidence: text };
}
