/**
 * A folder of plain files, such as a staged bundle, as a tree. All files get the same mode, because files of a bundle are
 * never executable.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FileTree } from './file-tree.ts';

export function folderTree(folder: string): FileTree {
  const tree = new FileTree();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const content = { file, offset: 0, size: statSync(file).size };
    const path = Buffer.from(relative(folder, file)).toString('latin1');
    tree.put(path, { kind: 'file', mode: 0o644, uid: 0, gid: 0, content });
  }
  return tree;
}
