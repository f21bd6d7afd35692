/**
 * Copies a verified bundle into the store of installed skills, from its staged copy, not from its source folder. An
 * installed skill is never replaced silently.
 *
 * @module
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle } from './bundle.ts';
import { readDescription } from './bundle-texts.ts';
import { publishSync } from './publish.ts';
import { capabilitySet, diffCapabilities } from './capability-set.ts';
import { installedDir } from './locate.ts';
import { LOCK_FILE, readBundle, SIGNATURE_FILE } from './read-bundle.ts';

export interface CopyOptions {
  /** Replaces another skill of this name. */
  replace?: boolean | undefined;
}

/** False if this bundle is installed already. Throws `untrusted` if a different one is installed under its name. */
export function needsInstall(home: string, bundle: Bundle, { replace = false }: CopyOptions): boolean {
  const installed = installedAs(home, bundle);
  if (!installed || replace) return true;
  if (installed.digest === bundle.digest) return false;
  const { manifest, sourceDir } = bundle;
  const diff =
    installed.capabilities === undefined
      ? ['the installed skill cannot be read']
      : diffCapabilities(installed.capabilities, capabilitySet(manifest));
  const asks = diff.length > 0 ? diff.join('; ') : 'the same capabilities';
  throw new SkillError(
    'untrusted',
    `Another skill is installed as "${manifest.name}" (${installed.digest ?? 'unreadable'}). The one in ${JSON.stringify(sourceDir)} is ${bundle.digest} and asks for: ${asks}`,
    {
      fix: `Compare both. To replace the installed one, run: skillcell install --replace ${shellWord(sourceDir)}`,
      detail: {
        skill: manifest.name,
        installed: installed.digest,
        digest: bundle.digest,
        from: sourceDir,
        diff,
      },
    },
  );
}

interface Installed {
  digest?: string;
  capabilities?: string[];
}

function installedAs(home: string, { manifest }: Bundle): Installed | undefined {
  const dir = join(installedDir(home), manifest.name);
  if (!existsSync(dir)) return undefined;
  try {
    const { digest, contents } = readBundle(dir);
    return { digest, capabilities: capabilitySet(readDescription(contents, dir).manifest) };
  } catch {
    // It cannot be compared, so it counts as a different skill.
    return {};
  }
}

/** Returns the folder of the installed copy. An identical bundle is left alone, with its lock, which may pin an image. */
export function installBundle(home: string, bundle: Bundle, options: CopyOptions = {}): string {
  const target = join(installedDir(home), bundle.manifest.name);
  if (!needsInstall(home, bundle, options)) return target;
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  publishSync(target, (draft) => {
    cpSync(bundle.stagedDir, draft, { recursive: true });
    makeRemovable(draft);
    // The lock is not part of the staged copy; each load of the installed skill checks it.
    if (bundle.lock === 'locked') cpSync(join(bundle.sourceDir, LOCK_FILE), join(draft, LOCK_FILE));
    if (bundle.vouched) writeFileSync(join(draft, SIGNATURE_FILE), bundle.vouched.signature);
    rmSync(target, { recursive: true, force: true });
  });
  return target;
}

/** The staged copy is read-only, including its folders; the installed copy must be replaceable by the next version. */
function makeRemovable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeRemovable(join(folder, entry.name));
  }
}
