/** Lists the root of the file system. */
import { readDir } from 'skillcell:fs';

export async function execute(params) {
  const found = await readDir('/');
  return { succeeded: found.some(({ name }) => name === 'etc'), evidence: JSON.stringify(found) };
}
