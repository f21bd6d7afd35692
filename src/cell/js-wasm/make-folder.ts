/**
 * Folders that a confined program of ours makes once and that cells then use: the engine, and the scripts of a skill.
 *
 *     <home>/js-wasm/<key>-<version of the code in cells>/
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { GrantedLimits } from '../../policy/grant.ts';
import type { Mount, Wall } from '../contract.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { runInstaller } from '../node/installer.ts';
import { markInUse } from '../node/staged-folders.ts';
import { copyPlain, openWorkplace } from '../node/workplace.ts';
import { makeReadable } from '../readable.ts';

export interface FolderMaker {
  home: string;
  wall: () => Promise<Wall>;
  /** Names the folder: everything that it depends on besides our own code. */
  key: string;
  /** What is made, for people. */
  what: string;
  /** The program, below `guest/wasm`. */
  entry: string;
  /** What the program finds in its folder `input`. */
  input: Record<string, Uint8Array | string>;
  /** Name of the folder that it leaves. */
  output: string;
  reads?: Mount[];
  /** Lowers what the program may use. */
  limits?: Partial<GrantedLimits>;
}

export async function makeFolder(options: FolderMaker): Promise<string> {
  const place = join(options.home, 'js-wasm');
  const folder = join(place, `${options.key}-${basename(stageGuestCode(options.home, 'wasm'))}`);
  if (existsSync(folder)) markInUse(folder);
  else await make(options, folder);
  return folder;
}

async function make(options: FolderMaker, folder: string): Promise<void> {
  const workplace = `${folder}.${randomBytes(6).toString('hex')}`;
  const draft = `${workplace}.draft`;
  try {
    openWorkplace(workplace);
    mkdirSync(join(workplace, 'input'));
    for (const [name, content] of Object.entries(options.input))
      writeFileSync(join(workplace, 'input', name), content);
    makeReadable(join(workplace, 'input'));
    await runInstaller({ ...options, wall: await options.wall() }, workplace);
    copyPlain(join(workplace, options.output), draft);
    makeReadable(draft);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    for (const made of [workplace, draft]) rmSync(made, { recursive: true, force: true });
  }
}
