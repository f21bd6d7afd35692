/**
 * A temporary workspace for each case that needs one: a copy of a folder of the bundle, which the call may change.
 *
 * @module
 */
import { chmodSync, cpSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';

export class Workspaces implements Disposable {
  readonly #folder: string;
  #count = 0;

  constructor() {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-study-')));
    // If the host is root, cells run as another user, who must be able to traverse this folder.
    chmodSync(this.#folder, 0o711);
  }

  /** Creates a new folder with a copy of this folder of the bundle. */
  copy(bundle: Bundle, path: string): string {
    if (!Object.keys(bundle.files).some((file) => file.startsWith(`${path}/`)))
      throw new SkillError(
        'manifest_invalid',
        `A case uses the workspace "${path}", which is not in the bundle`,
        {
          fix: 'Name a folder of the bundle that contains files.',
        },
      );
    const folder = join(this.#folder, String(++this.#count));
    // The staged copy contains only plain files and folders.
    cpSync(join(bundle.stagedDir, path), folder, { recursive: true });
    makeWritable(folder);
    return folder;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Lets any user change the copy, because the cell may run as another one. */
function makeWritable(folder: string): void {
  chmodSync(folder, 0o777);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeWritable(path);
    else chmodSync(path, 0o666);
  }
}
