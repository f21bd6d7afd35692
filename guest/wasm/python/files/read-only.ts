/**
 * The part of a tree that answers every change with EROFS.
 *
 * @module
 */
import { fail, type NodeStat, type OpenNode, type OpenOptions, type Tree } from './contract.ts';

export abstract class ReadOnlyTree implements Tree {
  abstract stat(path: readonly string[]): NodeStat;

  protected abstract openForReading(path: readonly string[]): OpenNode;

  open(path: readonly string[], options: OpenOptions): OpenNode {
    if (options.write || options.create || options.truncate) this.#refuseChange(path, options);
    const node = this.openForReading(path);
    if (options.directory && node.stat().type !== 'directory') fail('notdir');
    return node;
  }

  makeDirectory(): void {
    fail('rofs');
  }

  removeDirectory(): void {
    fail('rofs');
  }

  removeFile(): void {
    fail('rofs');
  }

  rename(): void {
    fail('rofs');
  }

  setModified(): void {
    fail('rofs');
  }

  /** Opening an existing file with only O_CREAT changes nothing. */
  #refuseChange(path: readonly string[], options: OpenOptions): void {
    if (options.write || options.truncate || options.exclusive) fail('rofs');
    try {
      this.stat(path);
    } catch {
      fail('rofs');
    }
  }
}

/** An open file that cannot be changed. */
export abstract class ReadOnlyNode implements OpenNode {
  readonly isStream: boolean = false;

  abstract stat(): NodeStat;

  read(_into: Uint8Array, _position: number): number {
    return fail('isdir');
  }

  write(): number {
    return fail('badf');
  }

  resize(): void {
    fail('inval');
  }

  list(): ReturnType<OpenNode['list']> {
    return fail('notdir');
  }

  close(): void {
    // There is nothing to release.
  }
}
