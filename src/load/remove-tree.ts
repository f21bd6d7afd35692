/**
 * Removes files and folders, including read-only ones, which only root could otherwise empty.
 *
 * @module
 */
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';

const SEPARATOR = Buffer.from('/');

export function removeTreeSync(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) makeWritableSync(Buffer.from(path));
  rmSync(path, { recursive: true, force: true });
}

export async function removeTree(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory()) await makeWritable(Buffer.from(path));
  await rm(path, { recursive: true, force: true });
}

/** Paths are bytes, because names in an image need not be UTF-8. */
function makeWritableSync(folder: Buffer): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) makeWritableSync(Buffer.concat([folder, SEPARATOR, entry.name]));
  }
}

async function makeWritable(folder: Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await makeWritable(Buffer.concat([folder, SEPARATOR, entry.name]));
  }
}
