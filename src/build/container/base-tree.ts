/**
 * The file system of a base image: folders and links as in Debian, and the packages without their documentation.
 *
 * @module
 */
import { emptyFolder, FileTree, type TreeNode } from '../../cell/images/file-tree.ts';
import { addPackage } from './debian-packages.ts';
import { applyInstallSteps, readInstallSteps } from './install-steps.ts';

/** Created before any package, because Debian has merged these into /usr and its packages rely on it. */
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const FOLDERS: Readonly<Record<string, number>> = {
  dev: 0o755,
  etc: 0o755,
  proc: 0o555,
  run: 0o755,
  skill: 0o755,
  sys: 0o555,
  tmp: 0o1777,
};
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n',
  'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
/** Documentation. Only the licence of each package is kept. */
const DOCUMENTATION = [
  'usr/share/man',
  'usr/share/info',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/bug',
  'usr/share/doc-base',
  'usr/share/menu',
];

export interface BaseParts {
  /** Folder of the packages. */
  folder: string;
  /** File names, in a fixed order. */
  packages: readonly string[];
}

export async function baseTree({ folder, packages }: BaseParts): Promise<FileTree> {
  const tree = new FileTree();
  for (const name of MERGED) {
    tree.put(`usr/${name}`, emptyFolder());
    tree.put(name, { kind: 'link', target: `usr/${name}`, uid: 0, gid: 0 });
  }
  for (const [name, mode] of Object.entries(FOLDERS)) tree.put(name, emptyFolder(mode));
  for (const file of packages) await addPackage(tree, folder, file);
  const steps = packages.map((file) => readInstallSteps(folder, file));
  applyInstallSteps(tree, steps);
  for (const [path, text] of Object.entries(FILES)) tree.put(path, plainFile(Buffer.from(text)));
  // Busybox is the shell for images that build on this one.
  tree.put('bin/sh', { kind: 'link', target: 'busybox', uid: 0, gid: 0 });
  for (const path of DOCUMENTATION) tree.remove(path);
  keepLicences(tree);
  return tree;
}

export function plainFile(content: Buffer, mode = 0o644): TreeNode {
  return { kind: 'file', mode, uid: 0, gid: 0, content };
}

function keepLicences(tree: FileTree): void {
  const docs = tree.at('usr/share/doc');
  if (docs?.kind !== 'folder') return;
  for (const [name, folder] of docs.children) {
    const licence = folder.kind === 'folder' ? folder.children.get('copyright') : undefined;
    if (folder.kind !== 'folder' || !licence) docs.children.delete(name);
    else folder.children = new Map([['copyright', licence]]);
  }
}
