/**
 * Puts a verified bundle among the installed skills, from the staged copy and not from where it came.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bundle } from './bundle.ts';
import { installedDir } from './locate.ts';
import { LOCK_FILE, SIGNATURE_FILE } from './read-bundle.ts';

/** Returns the folder of the installed copy; an older version of the same skill gives way. */
export function installBundle(home: string, bundle: Bundle): string {
  const target = join(installedDir(home), bundle.manifest.name);
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  cpSync(bundle.stagedDir, draft, { recursive: true });
  makeRemovable(draft);
  // Not part of the staged copy; whether it fits is checked whenever the installed skill is loaded.
  if (bundle.lock === 'locked') cpSync(join(bundle.sourceDir, LOCK_FILE), join(draft, LOCK_FILE));
  if (bundle.vouched) writeFileSync(join(draft, SIGNATURE_FILE), bundle.vouched.signature);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  return target;
}

/** The staged copy is read-only, folders included; this one has to give way to the next version. */
function makeRemovable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeRemovable(join(folder, entry.name));
  }
}
