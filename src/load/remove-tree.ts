/**
 * Removes files and folders, including read-only ones, which only root could otherwise empty, and trees whose paths are
 * longer than the kernel takes.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { chmod, lstat, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';

const LISTING = { withFileTypes: true, encoding: 'buffer' } as const;

export function removeTreeSync(path: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) makeWritableSync(Buffer.from(path));
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    removeDeepSync(Buffer.from(path));
  }
}

export async function removeTree(path: string): Promise<void> {
  try {
    const stat = await lstat(path).catch(() => undefined);
    if (stat?.isDirectory()) await makeWritable(Buffer.from(path));
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    await removeDeep(Buffer.from(path));
  }
}

/** Paths are bytes, because names in an image need not be UTF-8. */
function inside(folder: Buffer, name: Uint8Array | string): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), Buffer.from(name)]);
}

function makeWritableSync(folder: Buffer): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, LISTING))
    if (entry.isDirectory()) makeWritableSync(inside(folder, entry.name));
}

async function makeWritable(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, LISTING))
    if (entry.isDirectory()) await makeWritable(inside(folder, entry.name));
}

function isTooDeep(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG';
}

/** Moves each folder into the top before it is emptied, so that every path stays short. */
function removeDeepSync(top: Buffer): void {
  const newName = namesIn(top);
  const left = [top];
  for (let folder = left.pop(); folder; folder = left.pop()) {
    const isTop = folder === top;
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, LISTING)) {
      const path = inside(folder, entry.name);
      const target = isTop ? path : newName();
      if (!entry.isDirectory()) unlinkSync(path);
      else {
        // Moving a folder writes to it.
        chmodSync(path, 0o700);
        if (!isTop) renameSync(path, target);
        left.push(target);
      }
    }
    if (!isTop) rmdirSync(folder);
  }
  rmdirSync(top);
}

async function removeDeep(top: Buffer): Promise<void> {
  const newName = namesIn(top);
  const left = [top];
  for (let folder = left.pop(); folder; folder = left.pop()) {
    const isTop = folder === top;
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, LISTING)) {
      const path = inside(folder, entry.name);
      const target = isTop ? path : newName();
      if (!entry.isDirectory()) await unlink(path);
      else {
        await chmod(path, 0o700);
        if (!isTop) await rename(path, target);
        left.push(target);
      }
    }
    if (!isTop) await rmdir(folder);
  }
  await rmdir(top);
}

/** Names that nothing in the tree has. */
function namesIn(top: Buffer): () => Buffer {
  const prefix = randomBytes(16).toString('hex');
  let count = 0;
  return () => inside(top, `${prefix}-${count++}`);
}
