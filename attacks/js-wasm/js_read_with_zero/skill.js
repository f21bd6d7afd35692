/** Ends a path with a zero in the middle of it. */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const text = await readFile(`/skill/skill.js/../..${params.secret_file}\0.txt`, 'utf8');
  return { succeeded: text.includes(params.marker), evidence: text };
}
