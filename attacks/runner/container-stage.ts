/**
 * The attacks on jailed processes, told to run in containers: the same code, with another manifest.
 *
 * @module
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';

/** What `skillcell build --base python` makes. */
const ATTACKED_IMAGE = 'localhost/skillcell-python';

export interface ContainerStage extends Disposable {
  /** A copy of this bundle that runs in a container. */
  copy(bundleDir: string): string;
}

export function openContainerStage(): ContainerStage {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-container-attacks-'));
  const copies = new Map<string, string>();
  return {
    copy(bundleDir) {
      const known = copies.get(bundleDir);
      if (known !== undefined) return known;
      const target = join(folder, basename(dirname(bundleDir)), basename(bundleDir));
      cpSync(bundleDir, target, { recursive: true });
      rmSync(join(target, 'skill.lock'), { force: true });
      rewrite(join(target, 'manifest.yaml'));
      copies.set(bundleDir, target);
      return target;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function rewrite(file: string): void {
  const manifest = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const told = { ...manifest, execution: 'container', container: { image: ATTACKED_IMAGE } };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(told));
}
