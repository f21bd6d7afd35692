/**
 * Receipts on their way into the log. One write puts a receipt into this file, and only then is its call answered; the
 * log takes it from there a moment later, many at a time. A call is accepted only when a receipt is here already that
 * says that the runtime ended before it, and there is room for the true one, which takes its place. Each process has
 * files of its own and a lock that ends with it; the next one that opens the log brings in what a killed one left behind.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { FileLock } from '../load/file-lock.ts';
import { DISK, JournalFile, type JournalFiles } from './journal-file.ts';

/** What has arrived in the log is cleared away when the file has become so large. */
const COMPACT_BYTES = 256 * 1024;
/** Room that each call under way has for its end; a longer receipt is shortened when there is no more. */
const LINE_BYTES = 8 * 1024;
const LOCK_ATTEMPTS = 3;

export class Journal {
  readonly #logFile: string;
  readonly #files: JournalFiles;
  readonly #underWay = new Map<string, string>();
  #lock: FileLock | undefined;
  #open: JournalFile | undefined;
  #count = 0;

  constructor(logFile: string, files: JournalFiles = DISK) {
    this.#logFile = logFile;
    this.#files = files;
  }

  /** Keeps what is true of a call if nothing more is heard of it, and room for its end. */
  begin(callId: string, line: string): void {
    const calls = this.#underWay.size + (this.#underWay.has(callId) ? 0 : 1);
    this.#file().append(line, calls * LINE_BYTES);
    this.#underWay.set(callId, line);
  }

  /** The end of a call: whole if there is room, else shortened into the room that was kept for it. */
  end(callId: string, line: string, shortened: () => string): void {
    const others = this.#underWay.size - (this.#underWay.has(callId) ? 1 : 0);
    try {
      this.#file().append(line, others * LINE_BYTES);
    } catch {
      const fitting = Buffer.byteLength(line) < LINE_BYTES ? line : shortened();
      this.#file().append(fitting, 0);
    }
    this.#underWay.delete(callId);
  }

  /** Throws unless a call could begin now. */
  assertRoom(): void {
    this.#file().reserve((this.#underWay.size + 1) * 2 * LINE_BYTES);
  }

  /** Everything that has ended is in the log; these calls are, too, though their end is not written here. */
  arrived(elsewhere: readonly string[] = []): void {
    for (const callId of elsewhere) this.#underWay.delete(callId);
    if (!this.#open || this.#open.bytes < COMPACT_BYTES) return;
    const old = this.#open;
    let next: JournalFile | undefined;
    try {
      // The new file is there before the old one goes: at no moment is a call in neither.
      next = this.#create();
      for (const line of this.#underWay.values()) next.append(line, this.#underWay.size * LINE_BYTES);
    } catch {
      // The old one is as good, only larger.
      next?.remove();
      return;
    }
    this.#open = next;
    old.remove();
  }

  /** Everything that has ended is in the log, and nothing more comes. */
  close(): void {
    if (this.#underWay.size > 0) return this.abandon();
    this.#open?.remove();
    this.#lock?.remove();
    this.#open = undefined;
    this.#lock = undefined;
  }

  /** Leaves everything to the next process that opens the log. */
  abandon(): void {
    this.#open?.close();
    this.#lock?.[Symbol.dispose]();
    this.#open = undefined;
    this.#lock = undefined;
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

/** The lock is there before any journal of it, and goes after the last: a journal without one is nobody's. */
function createLock(logFile: string): FileLock {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    const lock = FileLock.create(`${logFile}.${randomBytes(8).toString('hex')}.lock`);
    if (lock) return lock;
  }
  throw Object.assign(new Error('The lock of the journal could not be taken'), { code: 'ELOCK' });
}

function journalPath(lockPath: string, number: number): string {
  return `${lockPath.slice(0, -'.lock'.length)}-${number}.journal`;
}
