/**
 * Engines and code of cells that several homes share, so that each is prepared once: operators who start with an empty
 * home, e.g. in a fresh container, name a persistent folder. Its contents become part of a runtime, so a folder that other
 * users can write to is ignored.
 *
 * @module
 */
import { copyFileSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';

const OTHERS_MAY_WRITE = 0o022;

/** Copies the engine of this name to `wanted`; returns false if it is not shared. */
export function takeShared(shared: string, name: string, wanted: string): boolean {
  const found = join(shared, name);
  if (!isPrivate(shared) || !existsSync(found)) return false;
  return putInPlace(found, wanted);
}

/** Shares a newly prepared engine with other homes. If that fails, they prepare their own. */
export function share(shared: string, name: string, engine: string): void {
  try {
    mkdirSync(shared, { recursive: true, mode: 0o700 });
    if (isPrivate(shared)) putInPlace(engine, join(shared, name));
  } catch {
    return;
  }
}

function isPrivate(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { uid, mode } = lstatSync(folder);
  return uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0;
}

/** Atomic: the whole engine appears or nothing does, and the first process to publish it wins. */
function putInPlace(from: string, to: string): boolean {
  try {
    publishSync(to, (draft) => copyTree(from, draft), { keepsExisting: true });
    return true;
  } catch {
    return false;
  }
}

/** Uses hard links where possible, because files of an engine are never modified. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // Saved images of skills belong to one home and are not shared.
    if (entry.isDirectory() && entry.name !== 'skills') copyTree(source, target);
    else if (entry.isFile()) linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
  }
}
