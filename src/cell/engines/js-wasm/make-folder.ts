/**
 * Folders that a confined program of ours builds once and cells then mount: the engine, and the scripts of a skill.
 *
 *     <home>/js-wasm/<key>-<version of the code in cells>/
 *
 * @module
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { publish } from '../../../load/publish.ts';
import type { GrantedLimits } from '../../../policy/grant.ts';
import type { Mount, Wall } from '../../contract.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { runInstaller } from '../node-process/installer.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { copyPlain, openWorkplace } from '../node-process/workplace.ts';
import { makeReadable } from '../../linux/readable.ts';

export interface FolderOptions {
  home: string;
  wall: () => Promise<Wall>;
  /** Names the folder. Covers every input except our own code. */
  key: string;
  /** Describes the folder in error messages. */
  what: string;
  /** Path of the program below `guest/wasm`. */
  entry: string;
  /** Files that the program finds in its folder `input`. */
  input: Record<string, Uint8Array | string>;
  /** Name of the folder that the program writes. */
  output: string;
  reads?: Mount[];
  /** Tightens the default limits of the program. */
  limits?: Partial<GrantedLimits>;
}

export async function makeFolder(options: FolderOptions): Promise<string> {
  const place = join(options.home, 'js-wasm');
  const folder = join(place, `${options.key}-${basename(stageGuestCode(options.home, 'wasm'))}`);
  if (existsSync(folder)) markInUse(folder);
  else await publish(folder, (draft) => make(options, draft), { keepsExisting: true });
  return folder;
}

async function make(options: FolderOptions, draft: string): Promise<void> {
  const workplace = `${draft}.workplace`;
  try {
    openWorkplace(workplace);
    mkdirSync(join(workplace, 'input'));
    for (const [name, content] of Object.entries(options.input))
      writeFileSync(join(workplace, 'input', name), content);
    makeReadable(join(workplace, 'input'));
    await runInstaller({ ...options, wall: await options.wall() }, workplace);
    copyPlain(join(workplace, options.output), draft);
    makeReadable(draft);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}
