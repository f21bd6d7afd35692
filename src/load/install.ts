/**
 * Puts a verified bundle among the installed skills, from the staged copy and not from where it came. An installed skill
 * never silently becomes another.
 *
 * @module
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle } from './bundle.ts';
import { readDescription } from './bundle-texts.ts';
import { publish } from './publish.ts';
import { capabilitySet, diffCapabilities } from './capability-set.ts';
import { installedDir } from './locate.ts';
import { LOCK_FILE, readBundle, SIGNATURE_FILE } from './read-bundle.ts';

export interface InstallOptions {
  /** Another skill of this name gives way. */
  replace?: boolean;
}

/** Whether there is anything to do; throws `untrusted` when something else is installed under the name of this bundle. */
export function isToInstall(home: string, bundle: Bundle, { replace = false }: InstallOptions): boolean {
  const installed = installedAs(home, bundle);
  if (!installed || replace) return true;
  if (installed.digest === bundle.digest) return false;
  const { manifest, sourceDir } = bundle;
  const diff =
    installed.capabilities === undefined
      ? ['what is installed cannot be read']
      : diffCapabilities(installed.capabilities, capabilitySet(manifest));
  const asks = diff.length > 0 ? diff.join('; ') : 'the same capabilities';
  throw new SkillError(
    'untrusted',
    `Another skill is installed as "${manifest.name}" (${installed.digest ?? 'unreadable'}). The one in ${JSON.stringify(sourceDir)} is ${bundle.digest} and asks for: ${asks}`,
    {
      fix: `Compare both. If this one is to take its place, run: skillcell install --replace ${shellWord(sourceDir)}`,
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
    // What is there cannot be compared, so it counts as something else.
    return {};
  }
}

/** Returns the folder of the installed copy. The same bundle stays as it is, with its lock, which may pin an image. */
export function installBundle(home: string, bundle: Bundle, options: InstallOptions = {}): string {
  const target = join(installedDir(home), bundle.manifest.name);
  if (!isToInstall(home, bundle, options)) return target;
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  publish(target, (draft) => {
    cpSync(bundle.stagedDir, draft, { recursive: true });
    makeRemovable(draft);
    // Not part of the staged copy; whether it fits is checked whenever the installed skill is loaded.
    if (bundle.lock === 'locked') cpSync(join(bundle.sourceDir, LOCK_FILE), join(draft, LOCK_FILE));
    if (bundle.vouched) writeFileSync(join(draft, SIGNATURE_FILE), bundle.vouched.signature);
    rmSync(target, { recursive: true, force: true });
  });
  return target;
}

/** The staged copy is read-only, folders included; this one has to give way to the next version. */
function makeRemovable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeRemovable(join(folder, entry.name));
  }
}
