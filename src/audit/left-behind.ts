/**
 * Journals of processes that are gone. Who has the lock of such a process is the only one that deals with what it left.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileLock } from '../load/file-lock.ts';

const NAME = /^([0-9a-f]+)(?:\.lock|-(\d{1,9})\.journal)$/;

/** A process that had the log open, and is gone. */
interface Gone {
  lock: string;
  journals: string[];
}

/** Calls whose receipts wait in journals that nobody will write any more, and that the log does not know yet. */
export function countLeftBehind(logFile: string, isKnown: (callId: string) => boolean): number {
  const lines = processesGone(logFile).flatMap(({ journals }) =>
    journals.flatMap((path) => [...readJournal(path)]),
  );
  return [...new Map(lines).keys()].filter((callId) => !isKnown(callId)).length;
}

/** Hands over the newest line of each call, and removes the journals if that did not throw. */
export function bringInLeftBehind(logFile: string, take: (lines: Map<string, string>) => void): void {
  for (const { lock, journals } of processesGone(logFile)) {
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

/** The last line of each call, in the order of their first ones; a line that was not written whole is none. */
function readJournal(path: string): Map<string, string> {
  const lines = new Map<string, string>();
  if (!existsSync(path)) return lines;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const callId = line === '' ? undefined : callIdOf(line);
    if (callId !== undefined) lines.set(callId, line);
  }
  return lines;
}

function processesGone(logFile: string): Gone[] {
  const folder = dirname(logFile);
  const prefix = `${basename(logFile)}.`;
  const found = new Map<string, Gone>();
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const [, id = '', number] = (file.startsWith(prefix) && NAME.exec(file.slice(prefix.length))) || [];
    if (id === '') continue;
    const gone = found.get(id) ?? { lock: `${logFile}.${id}.lock`, journals: [] };
    if (number !== undefined) gone.journals[Number(number)] = join(folder, file);
    found.set(id, gone);
  }
  return [...found.values()]
    .filter(({ lock }) => !FileLock.isHeld(lock))
    .map(({ lock, journals }) => ({ lock, journals: Object.values(journals) }));
}

/** A journal whose lock somebody deleted gets it again, so that two processes cannot bring it in at once. */
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
