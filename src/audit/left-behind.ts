/**
 * Recovers journals of dead processes. Only the holder of a dead process's lock may touch its journals.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileLock } from '../load/file-lock.ts';

const NAME = /^([0-9a-f]+)(?:\.lock|-(\d{1,9})\.journal)$/;

/** A process that died with the log open. */
interface DeadProcess {
  lock: string;
  journals: string[];
}

/** Counts the calls that are in journals of dead processes and not in the log. */
export function countUnrecovered(logFile: string, isKnown: (callId: string) => boolean): number {
  const lines = deadProcesses(logFile).flatMap(({ journals }) =>
    journals.flatMap((path) => [...readJournal(path)]),
  );
  return [...new Map(lines).keys()].filter((callId) => !isKnown(callId)).length;
}

/** Passes the newest line of each call to `take`, and removes the journals unless it throws. */
export function recoverJournals(logFile: string, take: (lines: Map<string, string>) => void): void {
  for (const { lock, journals } of deadProcesses(logFile)) {
    const claimed = claim(lock);
    if (!claimed) continue;
    try {
      take(new Map(journals.flatMap((path) => [...readJournal(path)])));
      for (const path of journals) rmSync(path, { force: true });
      claimed.remove();
    } finally {
      claimed[Symbol.dispose]();
    }
  }
}

/** The last line of each call, in the order of the first lines. Ignores partly written lines. */
function readJournal(path: string): Map<string, string> {
  const lines = new Map<string, string>();
  if (!existsSync(path)) return lines;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const callId = line === '' ? undefined : callIdOf(line);
    if (callId !== undefined) lines.set(callId, line);
  }
  return lines;
}

function deadProcesses(logFile: string): DeadProcess[] {
  const folder = dirname(logFile);
  const prefix = `${basename(logFile)}.`;
  const found = new Map<string, DeadProcess>();
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const [, id = '', number] = (file.startsWith(prefix) && NAME.exec(file.slice(prefix.length))) || [];
    if (id === '') continue;
    const dead = found.get(id) ?? { lock: `${logFile}.${id}.lock`, journals: [] };
    if (number !== undefined) dead.journals[Number(number)] = join(folder, file);
    found.set(id, dead);
  }
  return [...found.values()]
    .filter(({ lock }) => !FileLock.isHeld(lock))
    .map(({ lock, journals }) => ({ lock, journals: Object.values(journals) }));
}

/** Recreates a deleted lock, so that two processes cannot recover a journal at the same time. */
function claim(lock: string): FileLock | undefined {
  if (existsSync(lock)) return FileLock.claim(lock);
  try {
    return FileLock.create(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

function callIdOf(line: string): string | undefined {
  try {
    const { call_id: callId } = JSON.parse(line) as { call_id?: unknown };
    return typeof callId === 'string' ? callId : undefined;
  } catch {
    return undefined;
  }
}
