/**
 * Reads a bundle: on this thread if it is certainly small, on a worker thread otherwise.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { AUTHORS_FILE } from '../manifest/fragment.ts';
import type { Offload } from '../offload/offload.ts';
import { TaskEndedError } from '../offload/task.ts';
import { LIMITS_HERE, LOCK_FILE, type BundleFiles } from './read-bundle.ts';
import { readSourceHere, type SourceFacts, type SourceLocation } from './source.ts';
import { READ_SOURCE } from './source-tasks.ts';
import type { Store } from './store.ts';

/** Four times the largest bundled manifest. Parsing YAML takes about a millisecond per KiB. */
export const MAX_TEXT_HERE: number = 8 * 1024;
/** Counts lines and items, because many short keys take longer than one long text. */
const MAX_MARKS_HERE = 1000;
export const MAX_LOCK_HERE: number = 64 * 1024;
/** Reading the largest bundle takes a fraction of this. */
const READ_DEADLINE_MS = 60_000;

interface ReadOptions {
  store: Store;
  offload: Offload;
  ignoresLock: boolean;
}

/** Thrown if the bundle is not certainly small. */
class TooLargeHere extends Error {}

/** Throws `manifest_invalid` or `manifest_drift`. */
export async function readSource(location: SourceLocation, options: ReadOptions): Promise<SourceFacts> {
  const { store, offload, ignoresLock } = options;
  try {
    if (location.isLarge === true) throw new TooLargeHere();
    return readSourceHere(location, { store, ignoresLock, limits: LIMITS_HERE, onRead: refuseLarge });
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  try {
    const { dir, ids = [], aliases = [] } = location;
    const input = { location: { dir, ids, aliases }, store: store.options, ignoresLock };
    return await offload.run(READ_SOURCE, input, { deadlineMs: READ_DEADLINE_MS, owner: dir });
  } catch (error) {
    throw error instanceof TaskEndedError && error.reason !== 'closed' ? tooExpensive(error) : error;
  }
}

/** True also if a limit of this thread was hit: the worker thread then applies the limits for all bundles. */
function isTooLarge(error: unknown): boolean {
  return error instanceof TooLargeHere || (error instanceof SkillError && 'limits' in error.detail);
}

function refuseLarge({ contents, lock }: BundleFiles): void {
  if (hasLargeTexts(contents, lock)) throw new TooLargeHere();
}

function hasLargeTexts(contents: ReadonlyMap<string, Buffer>, lock: Buffer | undefined): boolean {
  const texts = ['manifest.yaml', 'SKILL.md', AUTHORS_FILE].map((file) => contents.get(file));
  return texts.some((text) => text && !isSmallText(text)) || (lock?.length ?? 0) > MAX_LOCK_HERE;
}

/** Whether files that are known already are too much for this thread, so that it need not find out by reading them. */
export function isLargeBundle(files: ReadonlyMap<string, Buffer>): boolean {
  const total = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  const { files: most, totalBytes } = LIMITS_HERE;
  return files.size > most || total > totalBytes || hasLargeTexts(files, files.get(LOCK_FILE));
}

function isSmallText(text: Buffer): boolean {
  if (text.length > MAX_TEXT_HERE) return false;
  let marks = 0;
  for (const byte of text) if (byte === 0x0a || byte === 0x2c || byte === 0x3a || byte === 0x2d) marks++;
  return marks <= MAX_MARKS_HERE;
}

function tooExpensive({ reason }: TaskEndedError): SkillError {
  const resource = reason === 'memory' ? 'memory' : 'time';
  return new SkillError('manifest_invalid', `Reading the bundle takes too much ${resource}`, {
    fix: 'Make the bundle smaller, especially its manifest.yaml and skill.lock.',
  });
}
