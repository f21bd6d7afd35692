/**
 * Files of a control group that can stay open, because opening one takes several times as long as reading it, and the
 * groups of forks are used again. Not for `cgroup.procs` of v1: an open one may answer with an earlier list.
 *
 * @module
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/** Far more than any counter of a group. */
const MAX_BYTES = 4096;

export class KeptFiles {
  readonly #descriptors = new Map<string, number>();
  #keeps = false;

  /** From here on files stay open. Whoever calls it must `close`. */
  keep(): void {
    this.#keeps = true;
  }

  /** Undefined if there is no such file. */
  read(file: string): string | undefined {
    const text = Buffer.allocUnsafe(MAX_BYTES);
    try {
      const size = this.#with(file, constants.O_RDONLY, (fd) => readSync(fd, text, 0, MAX_BYTES, 0));
      return text.toString('latin1', 0, size);
    } catch {
      return undefined;
    }
  }

  /** A file with one number; undefined if there is none. */
  number(file: string): number | undefined {
    const text = this.read(file)?.trim();
    return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
  }

  /** Throws if the kernel refuses it. */
  write(file: string, value: number): void {
    this.#with(file, constants.O_WRONLY, (fd) => writeSync(fd, String(value), 0));
  }

  /** From here on nothing stays open. */
  close(): void {
    this.#keeps = false;
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }

  #with(file: string, flags: number, use: (descriptor: number) => number): number {
    const key = `${flags} ${file}`;
    const known = this.#descriptors.get(key);
    if (known !== undefined) return use(known);
    const descriptor = openSync(file, flags);
    if (this.#keeps) this.#descriptors.set(key, descriptor);
    try {
      return use(descriptor);
    } finally {
      if (!this.#keeps) closeSync(descriptor);
    }
  }
}
