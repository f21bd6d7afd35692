/**
 * Writes a file or folder as a draft next to its target, then renames it into place. On failure, such as a full disk,
 * nothing is left behind.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree, removeTreeSync } from './remove-tree.ts';

/** Prefix of the names of hidden drafts. */
export const HIDDEN_DRAFT = '.new-';

export interface PublishOptions {
  /** Accepts an existing target after a failure: another process published the same content first. */
  keepsExisting?: boolean;
  /**
   * Puts the draft into this folder of the same file system. Without it, the draft is next to the target, where a program that
   * lists the folder may mistake it for a finished file.
   */
  hideIn?: string;
}

export interface PublishSyncOptions extends PublishOptions {
  /** Moves the finished draft to the target if a plain rename is not enough. */
  place?: (draft: string, target: string) => void;
}

export function publishSync(
  target: string,
  make: (draft: string) => void,
  { keepsExisting = false, hideIn, place = renameSync }: PublishSyncOptions = {},
): void {
  const draft = hideIn === undefined ? draftBeside(target) : hiddenDraft(hideIn);
  try {
    make(draft);
    place(draft, target);
  } catch (error) {
    if (!keepsExisting || !existsSync(target)) throw error;
  } finally {
    removeTreeSync(draft);
  }
}

export async function publish(
  target: string,
  make: (draft: string) => Promise<void>,
  { keepsExisting = false, hideIn }: PublishOptions = {},
): Promise<void> {
  const draft = hideIn === undefined ? draftBeside(target) : hiddenDraft(hideIn);
  try {
    await make(draft);
    await rename(draft, target);
  } catch (error) {
    if (!keepsExisting || !existsSync(target)) throw error;
  } finally {
    await removeTree(draft);
  }
}

/** For files that are named by their content: `nameOf` returns the name of the finished file in `folder`. */
export async function publishByContent<Made>(
  folder: string,
  make: (draft: string) => Promise<Made>,
  nameOf: (made: Made) => string,
): Promise<Made> {
  const draft = hiddenDraft(folder);
  try {
    const made = await make(draft);
    await rename(draft, join(folder, nameOf(made)));
    return made;
  } finally {
    await removeTree(draft);
  }
}

function draftBeside(target: string): string {
  return `${target}.${randomBytes(6).toString('hex')}`;
}

function hiddenDraft(folder: string): string {
  return join(folder, `${HIDDEN_DRAFT}${randomBytes(8).toString('hex')}`);
}
