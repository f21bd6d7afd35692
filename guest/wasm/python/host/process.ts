/**
 * The guest as a process: its files, its directory, its streams. Created for every call, so that nothing of a call is
 * left outside the guest's memory.
 *
 * @module
 */
import type { StreamName } from '../../../protocol.ts';
import { fail, StreamNode, type OpenNode } from '../files/contract.ts';
import { resolvePath, type Located, type Mounts } from '../files/mounts.ts';
import { Descriptors } from './descriptors.ts';

const AT_FDCWD = -100;
const HOME_DIRECTORY: readonly string[] = ['skill'];
const DEFAULT_MASK = 0o022;
const STANDARD_DESCRIPTORS = 4;

export interface ProcessOptions {
  mounts: Mounts;
  /** Receives what the guest prints. */
  onOutput: (bytes: Uint8Array, stream: StreamName) => void;
  /** The working directory; absent: the bundle. */
  directory?: readonly string[] | undefined;
  /** The harness's channel to the host, as descriptor 3. */
  channel: OpenNode;
}

export class GuestProcess {
  readonly descriptors: Descriptors = new Descriptors();
  readonly #mounts: Mounts;
  readonly #firstDirectory: readonly string[];
  directory: readonly string[];
  mask: number = DEFAULT_MASK;

  constructor({ mounts, onOutput, directory = HOME_DIRECTORY, channel }: ProcessOptions) {
    this.#mounts = mounts;
    this.#firstDirectory = directory;
    this.directory = directory;
    const outputs = (['stdout', 'stderr'] as const).map(
      (stream) => new OutputStream((bytes) => onOutput(bytes, stream)),
    );
    const standard = [new OutputStream(), ...outputs, channel];
    for (const node of standard) {
      this.descriptors.add({
        node,
        position: 0,
        readable: true,
        writable: true,
        append: false,
        path: HOME_DIRECTORY,
      });
    }
  }

  /** False if the guest changed something outside its memory. */
  get isPristine(): boolean {
    const { descriptors } = this;
    const hasStandard = Array.from({ length: STANDARD_DESCRIPTORS }, (_, fd) => fd).every((fd) =>
      descriptors.has(fd),
    );
    const hasOwnDirectory = this.directory === this.#firstDirectory;
    return (
      hasStandard &&
      hasOwnDirectory &&
      descriptors.count === STANDARD_DESCRIPTORS &&
      this.mask === DEFAULT_MASK
    );
  }

  /** Absolute segments of a path in a system call. */
  resolve(directoryFd: number, path: string): string[] {
    const isAbsolute = path.startsWith('/');
    const from =
      isAbsolute || directoryFd === AT_FDCWD ? this.directory : this.descriptors.get(directoryFd).path;
    return resolvePath(from, path);
  }

  locate(directoryFd: number, path: string): Located {
    return this.#mounts.locate(this.resolve(directoryFd, path));
  }

  changeDirectory(path: readonly string[]): void {
    const { tree, path: inside } = this.#mounts.locate(path);
    if (tree.stat(inside).type !== 'directory') fail('notdir');
    this.directory = path;
  }
}

/** Has nothing to read; writes go to the log. */
class OutputStream extends StreamNode {
  readonly #onOutput: ((bytes: Uint8Array) => void) | undefined;

  constructor(onOutput?: (bytes: Uint8Array) => void) {
    super();
    this.#onOutput = onOutput;
  }

  override read(): number {
    return 0;
  }

  override write(bytes: Uint8Array): number {
    if (!this.#onOutput) fail('badf');
    this.#onOutput(bytes);
    return bytes.length;
  }
}
