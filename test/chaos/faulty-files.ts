/**
 * Makes writes of one process fail while a switch is on, with a library that is preloaded before the C library. Node and its
 * SQLite access files only through that.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('fail-files.c', import.meta.url));

export type Fault = 'EIO' | 'EROFS' | 'EMFILE';

export class FaultyFiles {
  /** Environment variables for the process whose writes should fail. */
  readonly env: Readonly<Record<string, string>>;
  readonly #switch: string;
  readonly #hits: string;

  constructor(folder: string) {
    const library = join(folder, 'fail-files.so');
    execFileSync('clang', ['-Wall', '-Werror', '-shared', '-fPIC', '-O1', '-o', library, SOURCE]);
    this.#switch = join(folder, 'fault');
    this.#hits = join(folder, 'hits');
    this.env = { LD_PRELOAD: library, FAULT_SWITCH: this.#switch, FAULT_HITS: this.#hits };
  }

  /** From now on, writes to these paths fail; `*` matches anything. */
  begin(fault: Fault, patterns: readonly string[]): void {
    rmSync(this.#hits, { force: true });
    writeFileSync(this.#switch, [constants.errno[fault], ...patterns, ''].join('\n'));
  }

  end(): void {
    rmSync(this.#switch, { force: true });
  }

  /** Calls that failed since the last fault began, such as `write /home/audit.db-wal`. */
  get hits(): string[] {
    return existsSync(this.#hits) ? readFileSync(this.#hits, 'utf8').trim().split('\n') : [];
  }
}
