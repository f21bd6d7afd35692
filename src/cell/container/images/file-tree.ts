/**
 * A file system in memory, without contents: what layers amount to, put together with nothing written yet. Names of a hostile
 * archive meet the real disk only after they have become plain children of plain folders here.
 *
 * @module
 */
import { quote } from '../../../manifest/quote.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { imageRefused } from './problems.ts';
import { tooMany } from './tar-reader.ts';

/** Where the bytes of a file are. */
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

  /** Puts a node in place of whatever was there. Folders on the way are made, links on the way are followed inside. */
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

  /** The node at a path, links followed inside of the tree, except for the last one. */
  at(path: string): TreeNode | undefined {
    const parts = this.#partsOf(path);
    const name = parts.pop();
    if (name === undefined) return this.root;
    const parent = this.#lookUp(parts, MAX_HOPS);
    return parent?.kind === 'folder' ? parent.children.get(name) : undefined;
  }

  /** The node at a path, with the last link followed as well. */
  resolve(path: string): TreeNode | undefined {
    return this.#lookUp(this.#partsOf(path), MAX_HOPS);
  }

  /** Where something new at this path would really be: links on the way are followed as far as there are any. */
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

  /** Parts of a path; a leading slash and single dots mean nothing, two dots are never honest. */
  #partsOf(path: string): string[] {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw imageRefused(`the path ${quote(path)} leads out of it`);
    if (path.includes('\0')) throw imageRefused(`the path ${quote(path)} has a zero byte`);
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
        throw imageRefused(`the path ${quote(path)} goes through what is no folder`);
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

  /** Walks as the kernel would if this tree were its root: links start over from where they point, `..` ends at the root. */
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
    // Links that point through each other make a path longer with every hop.
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
