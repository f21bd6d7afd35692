/** Real folders for tests, removed afterwards. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { exampleManifest } from '../policy/example-manifest.ts';
import type { SkillPlaces } from '../../src/load/locate.ts';

export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-test-')));
  onTestFinished(() => {
    unlock(dir);
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

export function writeTree(dir: string, tree: Record<string, string | Buffer>): string {
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

/** A folder with these files, in which registries of skills have their usual places. */
export function tempWorld(files: Record<string, string>): { root: string; places: SkillPlaces } {
  const root = tempTree(files);
  const [bundledDir, home, cwd] = [join(root, 'package/skills'), join(root, 'home'), join(root, 'project')];
  return { root, places: { bundledDir, home, cwd } };
}

export function tempTree(tree: Record<string, string | Buffer>): string {
  return writeTree(tempDir(), tree);
}

/** The SkillError that `action` throws; fails if it throws none. */
export function errorOf(action: () => unknown): SkillError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(SkillError);
    return error as SkillError;
  }
  throw new Error('Expected a SkillError, but nothing was thrown');
}

/** A manifest that explicitly asks for nothing. */
export function manifestWith(changes: Partial<Manifest> = {}): Manifest {
  return exampleManifest({ name: 'test/skill', description: 'A test.', ...changes });
}

function unlock(dir: string): void {
  chmodSync(dir, 0o700);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(dir, entry.name));
  }
}
