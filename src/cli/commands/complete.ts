/**
 * The candidates for the word under the cursor, for the scripts of `skillcell completion`.
 *
 * @module
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { defaultHome } from '../../load/home.ts';
import { packageRoot } from '../../package-root.ts';
import { candidatesFor } from '../candidates.ts';
import { printLine } from '../output.ts';

/** A key press waits for the answer, so a folder with very many entries is not read to its end. */
const MAX_SKILLS = 500;

/** Line by line "word<tab>description"; a last line ":files" asks the shell to add files. Prints nothing on errors. */
export function complete(program: Command, words: readonly string[]): number {
  const { candidates, also } = candidatesFor(program, words);
  const current = words.at(-1) ?? '';
  const skills = also === 'skills' ? skillIds(current).map((word) => ({ word, about: '' })) : [];
  for (const { word, about } of [...candidates, ...skills])
    printLine(`${word}\t${about.replaceAll(/\s+/g, ' ')}`);
  // A skill can also be named by its folder.
  if (also !== 'nothing') printLine(':files');
  return 0;
}

/** By the layout of folders only: reading manifests of a project would take too long. */
function skillIds(current: string): string[] {
  const roots = [
    join(process.cwd(), 'skills'),
    join(packageRoot(), 'skills'),
    join(defaultHome(), 'installed'),
  ];
  const ids = roots.flatMap((root) =>
    foldersIn(root).flatMap((category) =>
      foldersIn(join(root, category)).map((name) => `${category}/${name}`),
    ),
  );
  return [...new Set(ids)]
    .filter((id) => id.startsWith(current))
    .toSorted()
    .slice(0, MAX_SKILLS);
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    // Names with other characters are not ids, and could mislead the shell.
    return names.filter((name) => /^[a-z0-9][a-z0-9_.-]*$/i.test(name));
  } catch {
    return [];
  }
}
