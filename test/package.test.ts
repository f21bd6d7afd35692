/**
 * Checks the contents of the packages of this repository, and that they match each other.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unexpectedFiles } from '../scripts/packed-files.ts';
import { ROOT } from '../scripts/steps.ts';

interface Description {
  name: string;
  version: string;
  files: string[];
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
}

const read = (path: string): Description => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Description;
const runtime = read('package.json');
const attacks = read('attacks/package.json');

describe('agent frameworks', () => {
  const frameworks = Object.keys(runtime.peerDependencies);

  test('are optional, so that nobody installs one with the runtime', () => {
    expect(frameworks).toHaveLength(9);
    for (const name of frameworks) {
      expect(runtime.peerDependenciesMeta[name], name).toEqual({ optional: true });
      // npm refuses to install a package beside another version of an optional peer.
      expect(runtime.peerDependencies[name], name).toBe('*');
      expect(runtime.dependencies[name], name).toBeUndefined();
    }
  });

  test('are tested in a pinned version', () => {
    for (const name of frameworks) expect(runtime.devDependencies[name], name).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('the package of the attacks', () => {
  test('has the version of the runtime and depends on exactly that one', () => {
    expect(attacks.version).toBe(runtime.version);
    expect(attacks.peerDependencies).toEqual({ [runtime.name]: runtime.version });
  });

  test('uses the same versions of libraries as the runtime', () => {
    for (const [name, version] of Object.entries(attacks.dependencies)) {
      expect({ ...runtime.devDependencies, ...runtime.dependencies }[name], name).toBe(version);
    }
  });

  test('is not part of the package of the runtime', () => {
    expect(runtime.files.filter((file) => file.startsWith('attacks'))).toEqual([]);
  });
});

describe('the check of packed files', () => {
  test('names files that must not be published', () => {
    const found = unexpectedFiles('skillcell', [
      'package/attacks/subprocess/spin.py',
      'package/bin/skillcell.js',
    ]);
    expect(found[0]).toBe('"attacks/subprocess/spin.py" is not meant for skillcell');
    expect(found.join()).not.toContain('bin/');
  });

  test('names parts that are missing', () => {
    const found = unexpectedFiles('skillcell-attacks', ['package/dist/main.js']);
    expect(found).toContain('nothing in skillcell-attacks matches "subprocess/*.py"');
  });
});
