/**
 * Receipts on their way into the log. A call is answered only after one write has put its receipt into this file; the log
 * takes it from there a moment later, in batches. A call is accepted only after a provisional receipt ("the runtime ended
 * before this call") is written here and there is room for the final one, which replaces it. Each process has its own files
 * and a lock that ends with the process; the next process that opens the log recovers the files of a killed one.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { FileLock } from '../load/file-lock.ts';
import { DISK, JournalFile, type JournalFiles } from './journal-file.ts';

/** A file of this size is replaced by one without the receipts that are already in the log. */
const COMPACT_BYTES = 256 * 1024;
/** Room reserved for the final receipt of each call in progress; a longer one is shortened if the disk is full. */
const LINE_BYTES = 8 * 1024;
const LOCK_ATTEMPTS = 3;

export class Journal {
  readonly #logFile: string;
  readonly #files: JournalFiles;
  readonly #inProgress = new Map<string, string>();
  #lock: FileLock | undefined;
  #open: JournalFile | undefined;
  #count = 0;

  constructor(logFile: string, files: JournalFiles = DISK) {
    this.#logFile = logFile;
    this.#files = files;
  }

  /** Writes the provisional receipt of a call and reserves room for the final one. */
  begin(callId: string, line: string): void {
    const calls = this.#inProgress.size + (this.#inProgress.has(callId) ? 0 : 1);
    this.#file().append(line, calls * LINE_BYTES);
    this.#inProgress.set(callId, line);
  }

  /** Writes the final receipt: whole if there is room, otherwise shortened to the reserved room. */
  end(callId: string, line: string, shortened: () => string): void {
    const others = this.#inProgress.size - (this.#inProgress.has(callId) ? 1 : 0);
    try {
      this.#file().append(line, others * LINE_BYTES);
    } catch {
      const fitting = Buffer.byteLength(line) < LINE_BYTES ? line : shortened();
      this.#file().append(fitting, 0);
    }
    this.#inProgress.delete(callId);
  }

  /** Throws unless a call could begin now. */
  assertRoom(): void {
    this.#file().assertRoom((this.#inProgress.size + 1) * 2 * LINE_BYTES);
  }

  /** Called when all ended calls are in the log, including `elsewhere`: calls whose final receipt is not in this file. */
  onFlushed(elsewhere: readonly string[] = []): void {
    for (const callId of elsewhere) this.#inProgress.delete(callId);
    if (!this.#open || this.#open.bytes < COMPACT_BYTES) return;
    const old = this.#open;
    let next: JournalFile | undefined;
    try {
      // Create the new file before removing the old one, so that every call is always in one of them.
      next = this.#create();
      for (const line of this.#inProgress.values()) next.append(line, this.#inProgress.size * LINE_BYTES);
    } catch {
      // The old file is still correct, only larger.
      if (next) removeIfPossible(next);
      return;
    }
    this.#open = next;
    removeIfPossible(old);
  }

  /** Called when all ended calls are in the log and no more will follow. */
  close(): void {
    if (this.#inProgress.size > 0) return this.abandon();
    const isGone = this.#open === undefined || removeIfPossible(this.#open);
    this.#open = undefined;
    if (isGone) this.#removeLock();
    else this.abandon();
  }

  /** Leaves everything to the next process that opens the log. */
  abandon(): void {
    this.#open?.close();
    this.#lock?.[Symbol.dispose]();
    this.#open = undefined;
    this.#lock = undefined;
  }

  #removeLock(): void {
    try {
      this.#lock?.remove();
      this.#lock = undefined;
    } catch {
      this.abandon();
    }
  }

  #file(): JournalFile {
    this.#open ??= this.#create();
    return this.#open;
  }

  #create(): JournalFile {
    this.#lock ??= createLock(this.#logFile);
    return new JournalFile(journalPath(this.#lock.path, this.#count++), this.#files);
  }
}

/** A file that stays is harmless: the log has its calls, and the next process that opens the log removes it. */
function removeIfPossible(file: JournalFile): boolean {
  try {
    file.remove();
    return true;
  } catch {
    return false;
  }
}

/** The lock exists before its first journal and until after its last; a journal without a lock has no owner. */
function createLock(logFile: string): FileLock {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    const lock = FileLock.create(`${logFile}.${randomBytes(8).toString('hex')}.lock`);
    if (lock) return lock;
  }
  throw Object.assign(new Error('Cannot take the lock of the journal'), { code: 'ELOCK' });
}

function journalPath(lockPath: string, number: number): string {
  return `${lockPath.slice(0, -'.lock'.length)}-${number}.journal`;
}
