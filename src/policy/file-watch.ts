/**
 * Notices that files changed, each time it is asked.
 *
 * @module
 */
import { statSync } from 'node:fs';

export class FileWatch {
  readonly #files: () => Iterable<string>;
  #seen: string;

  /** `files`: every file and folder that counts at the moment. Some may not exist. */
  constructor(files: () => Iterable<string>) {
    this.#files = files;
    this.#seen = this.#versions();
  }

  /** Whether something changed since it was last asked. */
  hasChanged(): boolean {
    const versions = this.#versions();
    const changed = versions !== this.#seen;
    this.#seen = versions;
    return changed;
  }

  #versions(): string {
    return Array.from(this.#files(), versionOf).join('\n');
  }
}

/** Follows links, so that a swapped link to another file counts as a change. */
function versionOf(file: string): string {
  try {
    const { ctimeNs, size, ino, dev } = statSync(file, { bigint: true });
    return `${ctimeNs} ${size} ${ino} ${dev}`;
  } catch {
    return '';
  }
}
