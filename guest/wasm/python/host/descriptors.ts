/**
 * The open files of the guest by number, and other state that a kernel keeps for a process. All of it is new for every call.
 *
 * @module
 */
import { fail, type DirectoryItem, type OpenNode } from '../files/contract.ts';

const MAX_DESCRIPTORS = 256;

/** An open file with its position; two numbers share one after dup(). */
export interface Description {
  node: OpenNode;
  position: number;
  readable: boolean;
  writable: boolean;
  append: boolean;
  /** Absolute path, for files opened relative to it. */
  path: readonly string[];
  /** The entries that getdents returns, and its progress. */
  listing?: { items: DirectoryItem[]; next: number };
}

export class Descriptors {
  readonly #open = new Map<number, Description>();

  get(fd: number): Description {
    return this.#open.get(fd) ?? fail('badf');
  }

  has(fd: number): boolean {
    return this.#open.has(fd);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Stores it under the lowest free number. */
  add(description: Description, least: number = 0): number {
    let fd = least;
    while (this.#open.has(fd)) fd++;
    if (fd >= MAX_DESCRIPTORS) {
      description.node.close();
      fail('mfile');
    }
    this.#open.set(fd, description);
    return fd;
  }

  /** Adds another number for the same open file. */
  duplicate(fd: number, least: number = 0): number {
    const description = this.get(fd);
    let copy = least;
    while (this.#open.has(copy)) copy++;
    if (copy >= MAX_DESCRIPTORS) fail('mfile');
    this.#open.set(copy, description);
    return copy;
  }

  replace(fd: number, target: number): void {
    const description = this.get(fd);
    if (target < 0 || target >= MAX_DESCRIPTORS) fail('badf');
    if (this.#open.has(target)) this.close(target);
    this.#open.set(target, description);
  }

  close(fd: number): void {
    const description = this.get(fd);
    this.#open.delete(fd);
    const isShared = [...this.#open.values()].includes(description);
    if (!isShared) description.node.close();
  }
}
