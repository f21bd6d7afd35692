/**
 * A throwaway folder for each case that wants a workspace: a copy of what the bundle brings, which a call may change.
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
  #made = 0;

  constructor() {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-study-')));
    // Cells of a root host run as another user, and have to pass through.
    chmodSync(this.#folder, 0o711);
  }

  /** A folder of its own, with a copy of this folder of the bundle. */
  copy(bundle: Bundle, path: string): string {
    if (!Object.keys(bundle.files).some((file) => file.startsWith(`${path}/`)))
      throw new SkillError(
        'manifest_invalid',
        `A case names the workspace "${path}", which the bundle has not`,
        {
          fix: 'Let it name a folder of the bundle that has files in it.',
        },
      );
    const folder = join(this.#folder, String(++this.#made));
    // The staged copy holds plain files and folders alone.
    cpSync(join(bundle.stagedDir, path), folder, { recursive: true });
    openUp(folder);
    return folder;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whoever the cell runs as may change the copy. */
function openUp(folder: string): void {
  chmodSync(folder, 0o777);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openUp(path);
    else chmodSync(path, 0o666);
  }
}
