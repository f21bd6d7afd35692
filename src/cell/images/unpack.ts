/**
 * Writes a tree to disk as a root file system: plain files, folders and links, owned by us. Cells mount it read-only, and
 * programs that copy a file with its mode get a copy that they can write.
 *
 * @module
 */
import { chmod, mkdir, open, symlink, type FileHandle } from 'node:fs/promises';
import { contentSize, type FileNode, type FileTree, type FolderNode } from './file-tree.ts';
import { imageCorrupt } from './problems.ts';

/** Large enough to be limited by the disk, not the CPU. */
const CHUNK = 1024 * 1024;

/** Kept for folders such as /tmp, because runtimes copy the mode of a mount point to the mount. */
const WORLD_WRITABLE = 0o1777;

/** Writes into an existing empty folder. */
export async function writeTree(tree: FileTree, folder: string): Promise<void> {
  const sources = new Sources();
  try {
    // Names in a tree are byte strings, so the path before them has to be one too.
    await writeFolder(tree.root, Buffer.from(folder).toString('latin1'), sources);
  } finally {
    await sources.close();
  }
}

async function writeFolder(node: FolderNode, path: string, sources: Sources): Promise<void> {
  for (const [name, child] of node.children) {
    const place = `${path}/${name}`;
    if (child.kind === 'file') await writeFile(child, place, sources);
    else if (child.kind === 'link') await symlink(onDisk(child.target), onDisk(place));
    else {
      await mkdir(onDisk(place), { mode: 0o700 });
      await writeFolder(child, place, sources);
    }
  }
  await chmod(onDisk(path), isWorldWritable(node) ? WORLD_WRITABLE : 0o755);
}

function isWorldWritable({ mode }: FolderNode): boolean {
  return (mode & WORLD_WRITABLE) === WORLD_WRITABLE;
}

async function writeFile(node: FileNode, path: string, sources: Sources): Promise<void> {
  const handle = await open(onDisk(path), 'wx', 0o600);
  try {
    if (Buffer.isBuffer(node.content)) await handle.writeFile(node.content);
    else await copy(node.content, await sources.open(node.content.file), handle);
    // Readable by the cell's user. Owners are not kept, because on the host their ids belong to other users.
    await handle.chmod((node.mode & 0o111) === 0 ? 0o644 : 0o755);
  } finally {
    await handle.close();
  }
}

async function copy(
  content: { offset: number; size: number },
  source: FileHandle,
  target: FileHandle,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, content.size));
  for (let done = 0; done < content.size;) {
    const wanted = Math.min(buffer.length, content.size - done);
    const { bytesRead } = await source.read(buffer, 0, wanted, content.offset + done);
    if (bytesRead === 0) throw imageCorrupt('a layer ends within a file');
    await target.writeFile(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
}

/** Keeps layers open while files are copied from them. */
class Sources {
  readonly #open = new Map<string, FileHandle>();

  async open(file: string): Promise<FileHandle> {
    const known = this.#open.get(file);
    if (known) return known;
    const handle = await open(file, 'r');
    this.#open.set(file, handle);
    return handle;
  }

  async close(): Promise<void> {
    for (const handle of this.#open.values()) await handle.close();
  }
}

/** Total size of the files in a tree. */
export function treeBytes(folder: FolderNode): number {
  let bytes = 0;
  for (const child of folder.children.values()) {
    if (child.kind === 'file') bytes += contentSize(child.content);
    else if (child.kind === 'folder') bytes += treeBytes(child);
  }
  return bytes;
}

function onDisk(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}
