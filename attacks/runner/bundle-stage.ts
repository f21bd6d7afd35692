/**
 * The bundles of the corpus as they are called: attacks report when they are reached, and for containers the manifest
 * names an image. The code is otherwise unchanged.
 *
 * @module
 */
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import {
  readAttack,
  writeBundle,
  writeManifest,
  type ManifestFields,
  type SkillCorpus,
} from './attack-source.ts';
import { markFiles } from './marker.ts';

/** Built by `skillcell build --base python`. */
const ATTACKED_IMAGE = 'localhost/skillcell-python';

export interface BundleStage extends Disposable {
  /** The bundle of an attack, with the marker. */
  attack(corpus: SkillCorpus, bundle: string): StagedAttack;
  /** A copy of a harmless bundle. */
  helper(bundleDir: string): string;
}

export interface StagedAttack {
  dir: string;
  description: string;
  /** Rewrites the manifest with these fields. */
  declare(fields: ManifestFields): void;
}

/** `added` is added to every manifest. */
export function openBundleStage(added: ManifestFields = {}): BundleStage {
  // Not in /tmp, which every cell has for itself: host paths passed to a cell must be real host paths.
  const folder = mkdtempSync('/var/tmp/skillcell-attack-bundles-');
  chmodSync(folder, 0o755);
  const attacks = new Map<string, StagedAttack>();
  const helpers = new Map<string, string>();
  const stageAttack = (corpus: SkillCorpus, bundle: string): StagedAttack => {
    const { description, manifest, files } = readAttack(corpus, bundle);
    const dir = join(folder, corpus, bundle);
    const declared = { ...manifest, ...added };
    writeBundle(dir, { manifest: declared, files: markFiles(files) });
    return { dir, description, declare: (fields) => writeManifest(dir, { ...declared, ...fields }) };
  };
  const stageHelper = (bundleDir: string): string => {
    const dir = join(folder, basename(dirname(bundleDir)), basename(bundleDir));
    cpSync(bundleDir, dir, { recursive: true });
    const manifest = parse(readFileSync(join(dir, 'manifest.yaml'), 'utf8')) as ManifestFields;
    writeManifest(dir, { ...manifest, ...added });
    return dir;
  };
  return {
    attack: (corpus, bundle) => getOrMake(attacks, `${corpus}/${bundle}`, () => stageAttack(corpus, bundle)),
    helper: (bundleDir) => getOrMake(helpers, bundleDir, () => stageHelper(bundleDir)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Concurrent attacks share their bundle, so it must not be written while another reads it. */
function getOrMake<T>(made: Map<string, T>, key: string, make: () => T): T {
  const value = made.get(key) ?? make();
  made.set(key, value);
  return value;
}

/** Attacks on jailed processes, run in containers. */
export const IN_CONTAINER: ManifestFields = {
  execution: 'container',
  container: { image: ATTACKED_IMAGE },
};
