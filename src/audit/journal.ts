/**
 * Receipts on their way into the log. One write puts a receipt into this file, and only then is its call answered; the
 * log takes it from there a moment later, many at a time. A call that has begun has a receipt here already, which
 * says that the runtime ended before it: the true one takes its place. Each process has a file of its own; the next one
 * that opens the log brings in what a killed one left behind.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { startOf } from '../cell/process-start.ts';

/** What has arrived in the log is cleared away when the file has become so large. */
const COMPACT_BYTES = 256 * 1024;
const SUFFIX = '.journal';

export class Journal {
  readonly #logFile: string;
  readonly #underWay = new Map<string, string>();
  #open: { fd: number; path: string; bytes: number } | undefined;

  constructor(logFile: string) {
    this.#logFile = logFile;
  }

  /** Keeps what is true of a call if nothing more is heard of it. */
  begin(callId: string, line: string): void {
    this.#write(line);
    this.#underWay.set(callId, line);
  }

  end(callId: string, line: string): void {
    this.#write(line);
    this.#underWay.delete(callId);
  }

  /** Everything that has ended is in the log. */
  arrived(): void {
    if (!this.#open || this.#open.bytes < COMPACT_BYTES) return;
    const old = this.#open;
    // The new file is there before the old one goes: at no moment is a call in neither.
    this.#open = openFile(this.#logFile);
    for (const line of this.#underWay.values()) this.#write(line);
    discard(old);
  }

  /** Everything that has ended is in the log, and nothing more comes. */
  close(): void {
    if (!this.#open) return;
    if (this.#underWay.size > 0) closeSync(this.#open.fd);
    else discard(this.#open);
    this.#open = undefined;
  }

  #write(line: string): void {
    this.#open ??= openFile(this.#logFile);
    this.#open.bytes += writeSync(this.#open.fd, `${line}\n`);
  }
}

/** Journals of this log whose process is gone. */
export function journalsLeftBehind(logFile: string): string[] {
  const prefix = `${basename(logFile)}.`;
  return readdirSync(dirname(logFile))
    .filter((name) => name.startsWith(prefix) && name.endsWith(SUFFIX))
    .filter((name) => !isOfLiving(name.slice(prefix.length)))
    .map((name) => join(dirname(logFile), name));
}

/** The last line of each call, in the order of their first ones; a line that was not written whole is none. */
export function readJournal(path: string): Map<string, string> {
  const lines = new Map<string, string>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const callId = callIdOf(line);
    if (callId !== undefined) lines.set(callId, line);
  }
  return lines;
}

function openFile(logFile: string): { fd: number; path: string; bytes: number } {
  const owner = `${process.pid}-${startOf(process.pid) ?? 0}`;
  const path = `${logFile}.${owner}-${randomBytes(6).toString('hex')}${SUFFIX}`;
  return { fd: openSync(path, 'ax', 0o600), path, bytes: 0 };
}

function discard({ fd, path }: { fd: number; path: string }): void {
  closeSync(fd);
  unlinkSync(path);
}

function callIdOf(line: string): string | undefined {
  try {
    const { call_id: callId } = JSON.parse(line) as { call_id?: unknown };
    return typeof callId === 'string' ? callId : undefined;
  } catch {
    return undefined;
  }
}

function isOfLiving(owner: string): boolean {
  const [pid, start] = owner.split('-');
  return startOf(Number(pid)) === start;
}
