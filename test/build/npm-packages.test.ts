/**
 * A TypeScript skill with a `package.json` is built with its npm packages, without running their scripts.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { buildSkill } from '../../src/inside.ts';
import { parseLock } from '../../src/load/lock.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';
import { addPackage, useRegistry } from './npm-registry.ts';

const { runtime, folder, close } = openTestRuntime({ audit: false });
afterAll(close);

const registry = join(folder, 'registry');
const trace = join(folder, 'script-ran');
const SKILL = "import { shout } from 'shout';\nexport const execute = (): string => shout('ha');\n";

beforeEach(async () => {
  mkdirSync(registry, { recursive: true });
  addPackage(registry, 'shout', {
    files: { 'main.js': 'export const shout = (text) => text.toUpperCase() + "!";' },
    scripts: { postinstall: `touch ${trace}`, preinstall: `touch ${trace}`, install: `touch ${trace}` },
  });
  addPackage(registry, 'native', {
    files: { 'main.js': '\nimport fs from "fs";\nexport const shout = fs.readFileSync;' },
  });
  await useRegistry(registry);
});

function write(source: string, dependencies: Record<string, string>, manifest: object = {}): string {
  return writeSkill(folder, {
    manifest: { execution: ['wasm', 'subprocess'], ...manifest },
    files: { 'skill.ts': source, 'package.json': JSON.stringify({ dependencies }) },
  });
}

function failureOf(dir: string): SkillError {
  try {
    buildSkill(dir);
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
  throw new Error('The build succeeded');
}

test('packages are fetched without running scripts, bundled, locked, and run in both modes', async () => {
  const dir = write(SKILL, { shout: '^1.0.0' });
  const notes: string[] = [];
  expect(buildSkill(dir, { onProgress: (text) => notes.push(text) }).file).toBe(join(dir, 'skill.js'));
  expect(notes.at(-1)).toMatch(/^Fetched 1 package in .* s: shout 1\.0\.0$/);
  expect(existsSync(trace)).toBe(false);
  expect(existsSync(join(dir, 'node_modules'))).toBe(false);
  await runtime.lock(dir);
  const { npm, files } = parseLock(readFileSync(join(dir, 'skill.lock'), 'utf8'));
  expect(npm).toEqual([expect.stringMatching(/^shout 1\.0\.0 sha512-/)]);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['package-lock.json', 'skill.js']));
  for (const execution of ['wasm', 'subprocess'] as const)
    expect(await runtime.execute(dir, {}, { execution })).toMatchObject({ result: 'HA!' });
});

test('a package whose bytes differ from package-lock.json is refused', () => {
  const dir = write(SKILL, { shout: '^1.0.0' });
  buildSkill(dir);
  const lock = join(dir, 'package-lock.json');
  const text = readFileSync(lock, 'utf8').replace(/sha512-[^"]+/, `sha512-${'A'.repeat(86)}==`);
  writeFileSync(lock, text);
  expect(failureOf(dir).detail['trace']).toContain('EINTEGRITY');
  expect(readFileSync(lock, 'utf8')).toBe(text);
});

test('a module of Node is refused with file and line if the skill runs only in Wasm', () => {
  const source = SKILL.replace("'shout'", "'native'");
  const { detail } = failureOf(write(source, { native: '1.0.0' }, { execution: 'wasm' }));
  expect(detail['trace']).toContain('"fs" is a module of Node, which the mode wasm does not have');
  expect(detail['trace']).toContain('node_modules/native/main.js:2:');
  const dir = write(source, { native: '1.0.0' }, { execution: 'subprocess' });
  buildSkill(dir);
  expect(readFileSync(join(dir, 'skill.js'), 'utf8')).toContain('from "node:fs"');
});

test('a dynamic require is refused with file and line', () => {
  const source = `${SKILL}\nexport const load = (name: string): unknown => require(name);\n`;
  expect(failureOf(write(source, { shout: '1.0.0' })).detail['trace']).toContain('skill.ts:4:');
});

test.each([
  'git+https://127.0.0.1/a.git',
  'owner/repository',
  'file:../elsewhere',
  'https://127.0.0.1/a.tgz',
  'link:x',
])('a package from %s is refused', (spec) => {
  const dir = write(SKILL, { shout: spec });
  expect(failureOf(dir)).toMatchObject({ code: 'manifest_invalid', detail: { name: 'shout', spec } });
  expect(existsSync(join(dir, 'package-lock.json'))).toBe(false);
});

test('a lock with a package from a repository is refused', () => {
  const dir = write(SKILL, { shout: '1.0.0' });
  const packages = { 'node_modules/shout': { version: '1.0.0', resolved: 'git+ssh://127.0.0.1/a.git#abc' } };
  writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  expect(failureOf(dir).message).toContain('"node_modules/shout" is not a file of a registry');
});

test('a package of the registry that names an address for what it needs is refused', () => {
  addPackage(registry, 'shouts', {
    files: { 'main.js': '' },
    dependencies: { shout: 'BASE/shout-1.0.0.tgz' },
  });
  const dir = write(SKILL, { shouts: '1.0.0' });
  expect(failureOf(dir).detail['trace']).toContain('EALLOWREMOTE');
  expect(existsSync(join(dir, 'package-lock.json'))).toBe(false);
});

test('a manifest that runs the source itself is refused', () => {
  expect(failureOf(write(SKILL, { shout: '1.0.0' }, { entry: 'skill.ts' })).fix).toContain('Remove "entry"');
});

test('a skill.ts whose package.json lists no packages needs no build', () => {
  expect(failureOf(write('export const execute = () => 1;', {})).message).toContain('no source to build');
});

test('settings of npm in the bundle are not used', async () => {
  const dir = write(SKILL, { shout: '^1.0.0' });
  writeFileSync(join(dir, '.npmrc'), 'offline=true\n');
  expect(buildSkill(dir).file).toBe(join(dir, 'skill.js'));
});
