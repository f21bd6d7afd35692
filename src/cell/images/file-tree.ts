/**
 * An in-memory file system without contents: the result of applying layers, before anything is written. Names of a hostile
 * archive reach the disk only after they have become plain children of plain folders here.
 *
 * @module
 */
import { quote } from '../../manifest/quote.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { imageRefused } from './problems.ts';
import { tooMany } from './tar-reader.ts';

/** The bytes of a file, or their location. */
export type Content = Buffer | { file: string; offset: number; size: number };

interface Owner {
  uid: number;
  gid: number;
}

export interface FileNode extends Owner {
  kind: 'file';
  mode: number;
  content: Content;
}

export interface FolderNode extends Owner {
  kind: 'folder';
  mode: number;
  children: Map<string, TreeNode>;
}

export interface LinkNode extends Owner {
  kind: 'link';
  target: string;
}

export type TreeNode = FileNode | FolderNode | LinkNode;

const MAX_HOPS = 40;

export class FileTree {
  readonly root: FolderNode = emptyFolder();
  readonly #limits: ImageLimits;
  #entries = 0;

  constructor(limits: ImageLimits = IMAGE_LIMITS) {
    this.#limits = limits;
  }

  /** Puts a node at a path, replacing any other. Creates missing folders and follows links inside the tree. */
  put(path: string, node: TreeNode): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.entries) throw tooMany(this.#limits);
    const parts = this.#partsOf(path);
    const name = parts.pop();
    if (name === undefined) {
      if (node.kind === 'folder') Object.assign(this.root, { mode: node.mode, uid: node.uid, gid: node.gid });
      return;
    }
    const parent = this.#folderAt(parts, path);
    const known = parent.children.get(name);
    if (known?.kind === 'folder' && node.kind === 'folder')
      Object.assign(known, { ...node, children: known.children });
    else parent.children.set(name, node);
  }

  /** The node at a path. Links are followed inside the tree, except for the last segment. */
  at(path: string): TreeNode | undefined {
    const parts = this.#partsOf(path);
    const name = parts.pop();
    if (name === undefined) return this.root;
    const parent = this.#lookUp(parts, MAX_HOPS);
    return parent?.kind === 'folder' ? parent.children.get(name) : undefined;
  }

  /** The node at a path, with a link in the last segment followed too. */
  resolve(path: string): TreeNode | undefined {
    return this.#lookUp(this.#partsOf(path), MAX_HOPS);
  }

  /** The real path of a new node at this path, with links on the way followed. */
  realPath(path: string): string {
    const parts = this.#partsOf(path);
    const name = parts.pop();
    const real: string[] = [];
    for (const part of parts) {
      const found = this.#trailOf([...real, part], MAX_HOPS);
      real.splice(0, real.length, ...(found ?? [...real, part]));
    }
    return [...real, ...(name === undefined ? [] : [name])].join('/');
  }

  remove(path: string): void {
    const parts = this.#partsOf(path);
    const name = parts.pop();
    const parent = this.#lookUp(parts, MAX_HOPS);
    if (name !== undefined && parent?.kind === 'folder') parent.children.delete(name);
  }

  /** Segments of a path. A leading slash and single dots are ignored; `..` is refused. */
  #partsOf(path: string): string[] {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw imageRefused(`the path ${quote(path)} leads out of it`);
    if (path.includes('\0')) throw imageRefused(`the path ${quote(path)} contains a zero byte`);
    if (parts.some((part) => part.length > 255)) throw imageRefused(`a name in ${quote(path)} is too long`);
    if (parts.length > this.#limits.depth)
      throw imageRefused(`it is nested deeper than ${this.#limits.depth} folders`, {
        limit: this.#limits.depth,
      });
    return parts;
  }

  #folderAt(parts: readonly string[], path: string): FolderNode {
    let folder = this.root;
    for (const [index, name] of parts.entries()) {
      let next = folder.children.get(name);
      if (next?.kind === 'link') next = this.#lookUp(parts.slice(0, index + 1), MAX_HOPS);
      else if (next === undefined) {
        next = emptyFolder();
        folder.children.set(name, next);
      }
      if (next?.kind !== 'folder')
        throw imageRefused(`the path ${quote(path)} goes through a file that is not a folder`);
      folder = next;
    }
    return folder;
  }

  #lookUp(parts: readonly string[], hops: number): TreeNode | undefined {
    const trail = this.#walk(parts, hops);
    return trail && (trail.at(-1)?.node ?? this.root);
  }

  #trailOf(parts: readonly string[], hops: number): string[] | undefined {
    return this.#walk(parts, hops)?.map(({ name }) => name);
  }

  /** Walks as the kernel would with this tree as its root: links restart the walk at their target, `..` stops at the root. */
  #walk(parts: readonly string[], hops: number): Step[] | undefined {
    const trail: Step[] = [];
    for (const [index, name] of parts.entries()) {
      if (name === '..') {
        trail.pop();
        continue;
      }
      const parent = trail.at(-1)?.node ?? this.root;
      const next = parent.kind === 'folder' ? parent.children.get(name) : undefined;
      if (next === undefined) return undefined;
      if (next.kind === 'link') return this.#follow(next, { trail, rest: parts.slice(index + 1), hops });
      trail.push({ name, node: next });
    }
    return trail;
  }

  #follow(
    link: LinkNode,
    walk: { trail: readonly Step[]; rest: readonly string[]; hops: number },
  ): Step[] | undefined {
    const target = link.target.split('/').filter((part) => part !== '' && part !== '.');
    const start = link.target.startsWith('/') ? [] : walk.trail.map(({ name }) => name);
    const parts = [...start, ...target, ...walk.rest];
    // Links that point through each other lengthen the path with every hop.
    if (walk.hops === 0 || parts.length > 2 * this.#limits.depth) return undefined;
    return this.#walk(parts, walk.hops - 1);
  }
}

interface Step {
  name: string;
  node: TreeNode;
}

export function emptyFolder(mode = 0o755): FolderNode {
  return { kind: 'folder', mode, uid: 0, gid: 0, children: new Map() };
}

export function contentSize(content: Content): number {
  return Buffer.isBuffer(content) ? content.length : content.size;
}
