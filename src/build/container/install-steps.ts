/**
 * What the installation of a Debian package would do beyond unpacking it, as far as a program needs it: configuration that
 * `ucf` copies, and the names that `update-alternatives` gives to programs. Read from the text of its script, which never
 * runs; other steps are left out.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { FileTree } from '../../cell/images/file-tree.ts';

const MAX_SCRIPT_BYTES = 1024 * 1024;
const PATH = '"?(/[\\w.+/-]{1,200})"?';
const COPY = new RegExp(`^[ \\t]*ucf (?:--[\\w-]+ )*${PATH} ${PATH}[ \\t]*$`, 'gm');
const ALTERNATIVE = new RegExp(`--install\\s+${PATH}\\s+"?([\\w.+-]{1,100})"?\\s+${PATH}\\s+(\\d{1,6})`, 'g');

/** The steps of one package. */
export interface InstallSteps {
  copies: { from: string; to: string }[];
  alternatives: { link: string; path: string; priority: number }[];
}

export function readInstallSteps(folder: string, file: string): InstallSteps {
  const run = spawnSync('dpkg-deb', ['-I', join(folder, file), 'postinst'], {
    encoding: 'utf8',
    maxBuffer: MAX_SCRIPT_BYTES,
  });
  // Most packages have no such script.
  return parseInstallSteps(run.status === 0 ? run.stdout : '');
}

export function parseInstallSteps(script: string): InstallSteps {
  const text = script.replaceAll(/\\\n/g, ' ');
  return {
    copies: [...text.matchAll(COPY)].map(([, from = '', to = '']) => ({ from, to })),
    alternatives: [...text.matchAll(ALTERNATIVE)].map(([, link = '', , path = '', priority]) => ({
      link,
      path,
      priority: Number(priority),
    })),
  };
}

/** Changes nothing that a package has put there. */
export function applyInstallSteps(tree: FileTree, steps: readonly InstallSteps[]): void {
  for (const { from, to } of steps.flatMap(({ copies }) => copies)) {
    const node = tree.resolve(from);
    if (node?.kind === 'file' && !tree.at(to)) tree.put(to, { ...node });
  }
  const links = steps.flatMap(({ alternatives }) => alternatives);
  for (const { link, path } of links.toSorted((a, b) => b.priority - a.priority)) {
    if (!tree.resolve(path) || tree.at(link)) continue;
    tree.put(link, { kind: 'link', target: path, uid: 0, gid: 0 });
  }
}
