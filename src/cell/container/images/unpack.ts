/**
 * Writes a tree to the disk as a root file system: plain files, folders and links, owned by us and writable by nobody, except
 * for folders such as /tmp.
 *
 * @module
 */
import { chmod, lstat, mkdir, open, readdir, rm, symlink, type FileHandle } from 'node:fs/promises';
import { contentSize, type FileNode, type FileTree, type FolderNode } from './file-tree.ts';
import { imageCorrupt } from './problems.ts';

/** Enough to keep the disk busy and not the process. */
const CHUNK = 1024 * 1024;

/** Of folders such as /tmp: runtimes give what they mount there the mode of the folder below. */
const FOR_EVERYBODY = 0o1777;

/** Writes into a folder that exists and is empty. */
export async function writeTree(tree: FileTree, folder: string): Promise<void> {
  const sources = new Sources();
  try {
    // Bytes in, bytes out: names in a tree are byte strings, and so is the path in front of them.
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
  await chmod(onDisk(path), isForEverybody(node) ? FOR_EVERYBODY : 0o555);
}

function isForEverybody({ mode }: FolderNode): boolean {
  return (mode & FOR_EVERYBODY) === FOR_EVERYBODY;
}

async function writeFile(node: FileNode, path: string, sources: Sources): Promise<void> {
  const handle = await open(onDisk(path), 'wx', 0o600);
  try {
    if (Buffer.isBuffer(node.content)) await handle.writeFile(node.content);
    else await copy(node.content, await sources.open(node.content.file), handle);
    // Readable by whoever the cell runs as: owners are not kept, because on the host they would be somebody else.
    await handle.chmod((node.mode & 0o111) === 0 ? 0o444 : 0o555);
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

/** Layers stay open while files are taken out of them. */
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

/** Bytes that the files of a tree take. */
export function treeBytes(folder: FolderNode): number {
  let bytes = 0;
  for (const child of folder.children.values()) {
    if (child.kind === 'file') bytes += contentSize(child.content);
    else if (child.kind === 'folder') bytes += treeBytes(child);
  }
  return bytes;
}

/** Removes an unpacked tree, whose folders are read-only. */
export async function removeUnpacked(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat?.isDirectory()) await makeWritable(Buffer.from(folder));
  await rm(folder, { recursive: true, force: true });
}

async function makeWritable(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await makeWritable(Buffer.concat([folder, Buffer.from('/'), entry.name]));
  }
}

function onDisk(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}
