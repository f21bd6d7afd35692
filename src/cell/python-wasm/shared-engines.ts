/**
 * Engines that several homes share, so that each of them is prepared once: an operator who starts with an empty home, as in
 * a fresh container, names a folder that is kept. What lies in it becomes part of a runtime, so it is only taken from a
 * folder that nobody else can write to.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;

/** Puts the engine of this name where it is wanted; false when it is not there. */
export function takeShared(shared: string, name: string, wanted: string): boolean {
  const found = join(shared, name);
  if (!isPrivate(shared) || !existsSync(found)) return false;
  return putInPlace(found, wanted);
}

/** Offers an engine that was just prepared to other homes. Without it they prepare their own. */
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

/** All of it or nothing is there; whoever came first has put it there. */
function putInPlace(from: string, to: string): boolean {
  const draft = `${to}.${randomBytes(6).toString('hex')}`;
  try {
    copyTree(from, draft);
    renameSync(draft, to);
    return true;
  } catch {
    rmSync(draft, { recursive: true, force: true });
    return existsSync(to);
  }
}

/** By links where that is possible: no file of an engine is ever written again. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // What skills made of an image is theirs, and belongs to one home.
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
