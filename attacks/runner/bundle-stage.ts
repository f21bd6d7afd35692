/**
 * Copies of the bundles of the corpus as they are called: attacks say when they are reached, and for containers the
 * manifest names an image. The code is otherwise the same.
 *
 * @module
 */
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { LANGUAGES, withMarker } from './marker.ts';

/** What `skillcell build --base python` makes. */
const ATTACKED_IMAGE = 'localhost/skillcell-python';

export interface BundleStage extends Disposable {
  /** A copy of an attack, marked. */
  attack(bundleDir: string): string;
  /** A copy of a harmless bundle. */
  helper(bundleDir: string): string;
}

/** `manifest` is added to every manifest. */
export function openBundleStage(manifest: Record<string, unknown> = {}): BundleStage {
  // Not in /tmp, which every cell has for itself: paths of the host that a cell is told of must be those of the host.
  const folder = mkdtempSync('/var/tmp/skillcell-attack-bundles-');
  chmodSync(folder, 0o755);
  const copies = new Map<string, string>();
  const copy = (bundleDir: string): string => {
    const target = join(folder, basename(dirname(bundleDir)), basename(bundleDir));
    cpSync(bundleDir, target, { recursive: true });
    rewrite(join(target, 'manifest.yaml'), manifest);
    copies.set(bundleDir, target);
    return target;
  };
  return {
    attack: (bundleDir) => copies.get(bundleDir) ?? mark(copy(bundleDir)),
    helper: (bundleDir) => copies.get(bundleDir) ?? copy(bundleDir),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Attacks on jailed processes, told to run in containers. */
export const IN_CONTAINER: Readonly<Record<string, unknown>> = {
  execution: 'container',
  container: { image: ATTACKED_IMAGE },
};

/** Puts the marker into the skill of this bundle. */
export function mark(bundleDir: string): string {
  for (const [name, language] of Object.entries(LANGUAGES)) {
    const file = join(bundleDir, name);
    if (existsSync(file)) writeFileSync(file, withMarker(readFileSync(file, 'utf8'), language));
  }
  return bundleDir;
}

function rewrite(file: string, added: Record<string, unknown>): void {
  if (Object.keys(added).length === 0) return;
  const manifest = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ ...manifest, ...added }));
}
