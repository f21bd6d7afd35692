/**
 * Folders for sockets on a disk that is full.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFolder, removeFolder } from '../../write-skill.ts';

const MODULE = fileURLToPath(new URL('../../../src/cell/linux/run-folder.ts', import.meta.url));
/** Makes folders on a file system of so many files, and prints how often that failed and what is left. */
const TRY = `
  import { readdirSync } from 'node:fs';
  const { makeRunFolder } = await import(process.argv[1]);
  const held = () => readdirSync('/proc/self/fd').length;
  const attempt = () => {
    try {
      makeRunFolder(process.argv[2]).remove();
      return 0;
    } catch (error) {
      if (error.code !== 'ENOSPC') throw error;
      return 1;
    }
  };
  attempt();
  const before = held();
  let failed = 0;
  for (let n = 0; n < 5; n++) failed += attempt();
  const left = readdirSync(process.argv[2] + '/run');
  console.log(JSON.stringify({ failed, descriptors: Math.max(0, held() - before), left }));
`;

let folder: string;
beforeEach(() => (folder = openFolder()));
afterEach(() => removeFolder(folder));

/** In namespaces of its own, which end with it. */
function tryWith(files: number): unknown {
  const mount = `mount -t tmpfs -o nr_inodes=${files} tmpfs "$1" && mkdir "$1/run" && exec "$2" --no-warnings --input-type=module -e "$3" "$4" "$1"`;
  const args = ['-rm', 'sh', '-c', mount, 'sh', folder, process.execPath, TRY, MODULE];
  return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' }));
}

test('leave nothing behind when they cannot be made', () => {
  const results = [2, 3, 4].map(tryWith);
  for (const result of results) expect(result).toMatchObject({ descriptors: 0, left: [] });
  // Too little for a lock or a folder at first, then enough for both.
  expect(results).toContainEqual({ failed: 5, descriptors: 0, left: [] });
  expect(results).toContainEqual({ failed: 0, descriptors: 0, left: [] });
});
