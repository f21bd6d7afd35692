/**
 * How `skillcell attack` finds the attacks, which are not installed with the runtime.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findAttacks } from '../../src/cli/attack-suite.ts';

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-suite-'));
  root = join(folder, 'node_modules', 'skillcell');
  mkdirSync(root, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function installAttacks(version: string, modules = join(folder, 'node_modules')): string {
  const dir = join(modules, 'skillcell-attacks');
  mkdirSync(join(dir, 'dist'), { recursive: true });
  const description = { name: 'skillcell-attacks', version, type: 'module', exports: exported() };
  writeFileSync(join(dir, 'package.json'), JSON.stringify(description));
  writeFileSync(join(dir, 'dist', 'main.js'), '');
  return join(dir, 'dist', 'main.js');
}

const exported = (): object => ({ '.': './dist/main.js', './package.json': './package.json' });

describe('findAttacks', () => {
  test('returns the source next to Skillcell in a clone', () => {
    mkdirSync(join(root, 'attacks'));
    writeFileSync(join(root, 'attacks', 'main.ts'), '');
    installAttacks('1.2.3');
    expect(findAttacks(root, '1.2.3')).toBe(join(root, 'attacks', 'main.ts'));
  });

  test('returns the installed package of the same version', () => {
    const entry = installAttacks('1.2.3');
    expect(findAttacks(root, '1.2.3')).toBe(entry);
  });

  test('fails with the command that installs the package', () => {
    writeFileSync(join(folder, 'package.json'), '{}');
    expect(() => findAttacks(root, '1.2.3')).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: 'The attacks are not installed',
        fix: 'Run `npm install --save-dev skillcell-attacks@1.2.3`.',
      }),
    );
  });

  test('suggests a global installation if Skillcell is installed globally', () => {
    expect(() => findAttacks(root, '1.2.3')).toThrow(
      expect.objectContaining({ fix: 'Run `npm install --global skillcell-attacks@1.2.3`.' }),
    );
  });

  test('refuses attacks of another version', () => {
    installAttacks('1.2.2');
    expect(() => findAttacks(root, '1.2.3')).toThrow('have version 1.2.2, but Skillcell has version 1.2.3');
  });

  test('ignores the current folder', () => {
    const elsewhere = join(folder, 'project');
    installAttacks('1.2.3', join(elsewhere, 'node_modules'));
    const before = process.cwd();
    process.chdir(elsewhere);
    try {
      expect(() => findAttacks(root, '1.2.3')).toThrow('not installed');
    } finally {
      process.chdir(before);
    }
  });
});
