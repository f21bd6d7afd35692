/**
 * Folders whose content is known when the cell starts: the bundle, the packages, the standard library. A file is read on
 * first use and then cached, because it is the same for every call.
 *
 * @module
 */
import { fail, type DirectoryItem, type NodeStat } from './contract.ts';
import { ReadOnlyNode, ReadOnlyTree } from './read-only.ts';

/** Without times of the host: skills do not need them, and results stay the same everywhere. */
const MODIFIED_MS = 1_600_000_000_000;

interface FixedFile {
  type: 'file';
  size: number;
  identity: bigint;
  /** Fills `into` from `position` on; returns how many bytes there were. */
  read: (into: Uint8Array, position: number) => number;
}

interface FixedFolder {
  type: 'directory';
  identity: bigint;
  entries: Map<string, FixedEntry>;
}

type FixedEntry = FixedFile | FixedFolder;

export class FixedTree extends ReadOnlyTree {
  #identities = 1n;
  readonly #root: FixedFolder = this.#folder();

  /** Adds a file and its parent folders. */
  addFile(path: readonly string[], size: number, load: () => Uint8Array): void {
    let content: Uint8Array | undefined;
    this.addStored(path, size, (into, position) => {
      content ??= load();
      const chunk = content.subarray(position, position + into.length);
      into.set(chunk);
      return chunk.length;
    });
  }

  /** The same for a file that is too large to be cached. */
  addStored(path: readonly string[], size: number, read: FixedFile['read']): void {
    const folder = this.addFolder(path.slice(0, -1));
    folder.entries.set(path.at(-1) ?? '', { type: 'file', size, identity: this.#identities++, read });
  }

  addFolder(path: readonly string[]): FixedFolder {
    let folder = this.#root;
    for (const segment of path) {
      const next = folder.entries.get(segment) ?? this.#folder();
      if (next.type !== 'directory') throw new Error('A file exists where a folder is needed');
      folder.entries.set(segment, next);
      folder = next;
    }
    return folder;
  }

  stat(path: readonly string[]): NodeStat {
    return statOf(this.#find(path));
  }

  protected openForReading(path: readonly string[]): ReadOnlyNode {
    const entry = this.#find(path);
    return entry.type === 'file' ? new OpenFixedFile(entry) : new OpenFixedFolder(entry);
  }

  #find(path: readonly string[]): FixedEntry {
    let entry: FixedEntry = this.#root;
    for (const segment of path) {
      if (entry.type !== 'directory') fail('notdir');
      entry = entry.entries.get(segment) ?? fail('noent');
    }
    return entry;
  }

  #folder(): FixedFolder {
    return { type: 'directory', identity: this.#identities++, entries: new Map() };
  }
}

function statOf(entry: FixedEntry): NodeStat {
  const size = entry.type === 'file' ? entry.size : 0;
  return { type: entry.type, size, modified: MODIFIED_MS, identity: entry.identity, writable: false };
}

class OpenFixedFile extends ReadOnlyNode {
  readonly #file: FixedFile;

  constructor(file: FixedFile) {
    super();
    this.#file = file;
  }

  stat(): NodeStat {
    return statOf(this.#file);
  }

  override read(into: Uint8Array, position: number): number {
    return this.#file.read(into, position);
  }
}

class OpenFixedFolder extends ReadOnlyNode {
  readonly #folder: FixedFolder;

  constructor(folder: FixedFolder) {
    super();
    this.#folder = folder;
  }

  stat(): NodeStat {
    return statOf(this.#folder);
  }

  override list(): DirectoryItem[] {
    return [...this.#folder.entries].map(([name, { type, identity }]) => ({ name, type, identity }));
  }
}
