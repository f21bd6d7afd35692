/**
 * Compiles the standard library of a base image to bytecode, so that no cell has to. The image's own Python does it, started
 * through its own loader and libraries, so that no chroot is needed. The result is reproducible: no timestamps, a fixed order
 * and a fixed hash seed.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileTree } from '../../cell/images/file-tree.ts';
import { writeTree } from '../../cell/images/unpack.ts';
import { plainFile } from './base-tree.ts';
import { step } from './debian-packages.ts';

const COMPILE = `
import importlib.util, os, py_compile, sys
root, out = sys.argv[1:3]
for folder, folders, files in os.walk(os.path.join(root, 'usr/lib/python3' + '.%d' % sys.version_info[1])):
    folders.sort()
    for name in sorted(files):
        if not name.endswith('.py'):
            continue
        source = os.path.join(folder, name)
        inside = os.path.relpath(source, root)
        target = os.path.join(out, importlib.util.cache_from_source(inside))
        try:
            py_compile.compile(source, cfile=target, dfile='/' + inside, doraise=True,
                               invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        except py_compile.PyCompileError:
            pass
`;

const LOADERS: Readonly<Record<string, { triplet: string; loader: string }>> = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

/** Adds bytecode to a tree that contains Python; `scratch` is an empty folder. */
export async function addBytecode(tree: FileTree, scratch: string): Promise<void> {
  const known = LOADERS[process.arch];
  if (!known) return;
  const [root, out, script] = ['root', 'bytecode', 'compile.py'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(root);
  mkdirSync(out);
  writeFileSync(script, COMPILE);
  await writeTree(tree, root);
  const libraries = join(root, 'usr/lib', known.triplet);
  const python = join(root, 'usr/bin', pythonName(root));
  step([join(libraries, known.loader), '--library-path', libraries, python, '-S', script, root, out], {
    what: 'Cannot compile the standard library',
    env: { PYTHONHOME: join(root, 'usr'), PYTHONHASHSEED: '0', LC_ALL: 'C.UTF-8' },
  });
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    tree.put(file.slice(out.length + 1), plainFile(readFileSync(file)));
  }
}

/** Such as `python3.11`. `python3` is a link, which would be resolved on the host. */
function pythonName(root: string): string {
  return readdirSync(join(root, 'usr/bin')).find((name) => /^python3\.\d+$/.test(name)) ?? 'python3';
}
