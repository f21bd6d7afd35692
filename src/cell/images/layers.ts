/**
 * Applies layers to a file tree, and writes a file tree as a layer.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { createReadStream } from 'node:fs';
import { quote } from '../../manifest/quote.ts';
import { contentSize, type Content, emptyFolder, type FileTree, type TreeNode } from './file-tree.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { imageRefused } from './problems.ts';
import { readTar, tooMany, type TarEntry } from './tar-reader.ts';
import { TAR_END, tarHead, tarPadding } from './tar-writer.ts';

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
/** The mode bits that are kept. Set-id bits, which would grant rights to anyone who runs the file, are dropped. */
const FILE_MODE = 0o777;
const FOLDER_MODE = 0o1777;

/** Entries to process before yielding to the event loop. */
export const ENTRIES_PER_TURN = 500;

export interface LayerOptions {
  limits?: ImageLimits;
  /** Keeps a link to a folder if a layer has a folder of that name, as dpkg does. Container layers replace the link. */
  keepsFolderLinks?: boolean;
}

/** Applies one layer to a tree. Whiteouts come first, because they only affect the layers below. */
export async function applyLayer(tree: FileTree, file: string, options: LayerOptions = {}): Promise<void> {
  const { limits = IMAGE_LIMITS } = options;
  const entries: TarEntry[] = [];
  let bytes = 0;
  for await (const entry of readTar(file, limits)) {
    bytes += entry.size;
    if (bytes > limits.bytes) throw tooLarge(limits);
    if (entries.length >= limits.entries) throw tooMany(limits);
    entries.push(entry);
  }
  await inTurns(entries, ({ name }) => applyWhiteout(tree, name));
  await inTurns(entries, (entry) => {
    if (!isWhiteout(entry.name)) add(tree, entry, { file, ...options });
  });
}

/** A service unpacks images while it serves calls, so this yields to the event loop regularly. */
async function inTurns<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  for (const [at, item] of items.entries()) {
    work(item);
    if (at % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await setImmediate();
  }
}

export function tooLarge(limits: ImageLimits): Error {
  return imageRefused(`it unpacks to more than ${limits.bytes} bytes`, { limit: limits.bytes });
}

function isWhiteout(path: string): boolean {
  return baseName(path).startsWith(WHITEOUT);
}

/** Without a regular expression: one for trailing slashes takes quadratic time on many leading slashes. */
function baseName(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end);
}

function applyWhiteout(tree: FileTree, path: string): void {
  if (!isWhiteout(path)) return;
  const name = baseName(path);
  const parent = path.slice(0, path.lastIndexOf(name));
  if (name !== OPAQUE) {
    tree.remove(`${parent}/${name.slice(WHITEOUT.length)}`);
    return;
  }
  const folder = tree.resolve(parent);
  if (folder?.kind === 'folder') folder.children.clear();
}

function add(tree: FileTree, entry: TarEntry, options: LayerOptions & { file: string }): void {
  const { uid, gid, mode } = entry;
  switch (entry.type) {
    case '0':
    case '7': {
      const content = { file: options.file, offset: entry.offset, size: entry.size };
      return tree.put(entry.name, { kind: 'file', mode: mode & FILE_MODE, uid, gid, content });
    }
    case '1':
      return tree.put(entry.name, linkedFile(tree, entry));
    case '2':
      return tree.put(entry.name, { kind: 'link', target: linkTarget(entry), uid, gid });
    case '5':
      if (options.keepsFolderLinks && tree.resolve(entry.name)?.kind === 'folder') return;
      return tree.put(entry.name, { ...emptyFolder(mode & FOLDER_MODE), uid, gid });
    case '3':
    case '4':
    case '6':
      // Devices and pipes: the wall provides the ones that a cell may have.
      return;
    default:
      throw imageRefused(`it has an entry of the unknown kind ${quote(entry.type)}`);
  }
}

/** A hard link to an existing file or symlink, which is not followed. */
function linkedFile(tree: FileTree, { name, linkName }: TarEntry): TreeNode {
  const target = tree.at(linkName);
  if (target?.kind === 'file' || target?.kind === 'link') return target;
  throw imageRefused(`${quote(name)} is a hard link to ${quote(linkName)}, which is not a file in it`);
}

function linkTarget({ name, linkName }: TarEntry): string {
  if (linkName !== '' && !linkName.includes('\0')) return linkName;
  throw imageRefused(`the link ${quote(name)} points nowhere`);
}

/** Writes the whole tree as a layer. The same tree always gives the same bytes. */
export async function* writeLayer(tree: FileTree): AsyncGenerator<Buffer> {
  for (const [path, node] of walkTree(tree)) yield* tarEntry(path, node);
  yield TAR_END;
}

/** All nodes except the root, folders before their contents, sorted by the bytes of their names. */
export function* walkTree(tree: FileTree): Generator<[path: string, node: TreeNode]> {
  yield* walkFolder(tree.root.children, '');
}

function* walkFolder(children: Map<string, TreeNode>, prefix: string): Generator<[string, TreeNode]> {
  const sorted = [...children].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, node] of sorted) {
    yield [prefix + name, node];
    if (node.kind === 'folder') yield* walkFolder(node.children, `${prefix}${name}/`);
  }
}

async function* tarEntry(path: string, node: TreeNode): AsyncGenerator<Buffer> {
  const { uid, gid } = node;
  if (node.kind === 'link') {
    yield tarHead({ type: '2', name: path, linkName: node.target, mode: 0o777, uid, gid, size: 0 });
    return;
  }
  const shared = { linkName: '', mode: node.mode, uid, gid };
  if (node.kind === 'folder') {
    yield tarHead({ ...shared, type: '5', name: `${path}/`, size: 0 });
    return;
  }
  const size = contentSize(node.content);
  yield tarHead({ ...shared, type: '0', name: path, size });
  yield* readContent(node.content);
  yield tarPadding(size);
}

export async function* readContent(content: Content): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(content)) yield content;
  else if (content.size > 0) {
    const { file, offset, size } = content;
    for await (const chunk of createReadStream(file, { start: offset, end: offset + size - 1 }))
      yield chunk as Buffer;
  }
}
