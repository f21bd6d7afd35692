/**
 * npm packages of Agent Skills folders: resolved once from a registry, without running their scripts, pinned with the digest
 * of each archive, and mounted read-only for Node scripts.
 *
 * @module
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createRuntime, type CommandResult, type Outcome } from '../../../../src/index.ts';
import { assertFewPackages, assertSmallTree } from '../../../../src/cell/engines/script/npm-size.ts';
import { archivesIn } from '../../../../src/load/npm-packages.ts';
import { addPackage, useRegistry } from '../../../build/npm-registry.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const FILES = {
  'scripts/greet.mjs': 'import { WORD } from "greet";\nconsole.log(WORD, process.argv[2]);\n',
  'scripts/deep/old.cjs': 'console.log(require("greet").WORD);\n',
  'scripts/shell.sh': 'node /skill/scripts/greet.mjs shell\n',
  'scripts/change.mjs': `
    import { writeFileSync } from 'node:fs';
    writeFileSync('/node_modules/greet/main.js', 'export const WORD = "changed";');
  `,
};
const DEPENDENCIES = { greet: '^1.0.0', other: 'git+https://code.example/other.git', third: 'file:../third' };
let written = 0;

/** Each has a package.json of its own: equal ones share what was installed. */
function write(name = `own-${++written}`): string {
  const described = { name, dependencies: DEPENDENCIES, scripts: { install: 'exit 1' } };
  return writeAgentSkill(open.folder, {
    files: { ...FILES, 'package.json': JSON.stringify(described) },
  });
}

async function registry(word = 'hello'): Promise<{ folder: string; mark: string }> {
  const folder = mkdtempSync(join(open.folder, 'registry-'));
  const mark = join(folder, 'a-script-ran');
  const files = { 'main.js': `export const WORD = ${JSON.stringify(word)};\n` };
  addPackage(folder, 'greet', { files, scripts: { postinstall: `touch ${mark}` } });
  await useRegistry(folder);
  return { folder, mark };
}

/** The same overlay with another digest of the package, not of the skill. */
function withOtherPin(text: string): string {
  const changed = text.replace(/(?<=greet 1\.0\.0 sha256:)[0-9a-f]{8}/, '00000000');
  expect(changed).not.toBe(text);
  return changed;
}

function call(dir: string, command: string[]): Promise<Outcome> {
  return open.runtime.exec(dir, command, { reject: false });
}

async function run(dir: string, command: string[]): Promise<CommandResult> {
  const outcome = await call(dir, command);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.result as CommandResult;
}

test('scripts of Node find the packages, whichever folder they are in, and no package script has run', async () => {
  const { mark } = await registry();
  const dir = write();
  expect((await run(dir, ['node', 'scripts/greet.mjs', 'x'])).stderr).toContain('greet');
  const { installation, bundle } = await open.runtime.install(dir);
  expect(installation.packages['npm']?.packages).toMatchObject([{ name: 'greet', version: '1.0.0' }]);
  expect(bundle.pins?.packages?.node?.packages[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(await run(dir, ['node', 'scripts/greet.mjs', 'x'])).toMatchObject({ stdout: 'hello x\n' });
  expect(await run(dir, ['node', 'scripts/deep/old.cjs'])).toMatchObject({ stdout: 'hello\n' });
  expect(await run(dir, ['bash', 'scripts/shell.sh'])).toMatchObject({ stdout: 'hello shell\n' });
  const outcome = await call(dir, ['node', 'scripts/greet.mjs', 'x']);
  expect(outcome.execution?.packages).toBe(installation.packages['npm']?.digest);
  expect(existsSync(mark)).toBe(false);
});

test('a script cannot change the packages', async () => {
  await registry();
  const dir = write();
  await open.runtime.install(dir);
  expect((await run(dir, ['node', 'scripts/change.mjs'])).exit_code).toBe(1);
  expect(await run(dir, ['node', 'scripts/greet.mjs', 'x'])).toMatchObject({ stdout: 'hello x\n' });
});

test('addresses and folders are left out with a reason', async () => {
  const proposal = await open.runtime.overlays.packages(await open.runtime.load(write()));
  expect(proposal.npm).toEqual([{ name: 'greet', spec: '^1.0.0', at: 'package.json' }]);
  expect(proposal.skipped.map(({ text }) => text.split(' ')[0])).toEqual(['other', 'third']);
});

test('what is pinned is installed again on another machine, and other bytes are refused', async () => {
  await registry();
  const dir = write();
  const { installation } = await open.runtime.install(dir);
  const overlay = readFileSync(installation.overlay ?? '', 'utf8');
  const home = mkdtempSync(join(open.folder, 'home-'));
  await using other = createRuntime({ home, cwd: open.folder });
  const first = await other.install(dir, { acceptPackages: () => true });
  expect(first.installation.packages['npm']).toEqual(installation.packages['npm']);
  await registry('something else');
  rmSync(join(home, 'environments'), { recursive: true });
  await expect(other.install(dir, { acceptPackages: () => true })).rejects.toMatchObject({
    code: 'manifest_drift',
  });
  expect(readFileSync(installation.overlay ?? '', 'utf8')).toBe(overlay);
});

test('a call with pinned packages that are not installed, or were changed, is refused', async () => {
  await registry();
  const dir = write();
  const { installation } = await open.runtime.install(dir);
  const home = mkdtempSync(join(open.folder, 'home-'));
  await using other = createRuntime({ home, cwd: open.folder });
  await other.install(dir, { acceptPackages: () => true });
  rmSync(join(home, 'environments'), { recursive: true });
  const command = ['node', 'scripts/greet.mjs'];
  const absent = await other.exec(dir, command, { reject: false });
  expect(absent).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  await other.install(dir, { acceptPackages: () => true });
  const text = readFileSync(installation.overlay ?? '', 'utf8');
  writeFileSync(installation.overlay ?? '', withOtherPin(text));
  // The changed overlay counts for nobody until its packages are installed again.
  expect(await other.exec(dir, command, { reject: false })).toMatchObject({ result: { exit_code: 1 } });
});

test('a package of the registry cannot choose an address, a repository or a folder for what it needs', async () => {
  const asked: string[] = [];
  const { folder } = await registry();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(readFileSync(join(folder, 'greet-1.0.0.tgz')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const places = [`http://${address}/x.tgz`, `git+http://${address}/x.git`, `file:${folder}/greet-1.0.0.tgz`];
  for (const place of [...places, `file:${folder}/greet-source/package`]) {
    addPackage(folder, 'greet', { files: { 'main.js': '' }, dependencies: { elsewhere: place } });
    const error = await open.runtime.install(write()).catch((cause: unknown) => cause);
    expect(error, place).toMatchObject({ code: 'skill_unavailable' });
  }
  server.close();
  expect(asked).toEqual([]);
});

test('an address in the lock of an npm that knows no such setting is refused', () => {
  const lock = (resolved?: string): string => {
    const found = { version: '1.0.0', integrity: 'sha512-YQ==', ...(resolved ? { resolved } : {}) };
    return JSON.stringify({ packages: { '': {}, 'node_modules/greet': found } });
  };
  expect(archivesIn(lock(), 'omitted')).toHaveLength(1);
  expect(archivesIn(lock('https://code.example/x.tgz'))).toHaveLength(1);
  expect(() => archivesIn(lock('https://code.example/x.tgz'), 'omitted')).toThrow('not a file of a registry');
});

test('a folder with equal package.json files and other pins does not touch the packages of another', async () => {
  await registry();
  const [mine, other] = [write('equal'), write('equal')];
  await open.runtime.install(mine);
  const { installation } = await open.runtime.install(other);
  const overlay = installation.overlay ?? '';
  const text = readFileSync(overlay, 'utf8');
  writeFileSync(overlay, withOtherPin(text));
  const again = open.runtime.install(other, { acceptPackages: () => true });
  await expect(again).rejects.toMatchObject({ code: 'manifest_drift' });
  expect(await run(mine, ['node', 'scripts/greet.mjs', 'x'])).toMatchObject({ stdout: 'hello x\n' });
});

test('two versions of one package are installed again, though newer ones have appeared', async () => {
  const { folder } = await registry();
  const files = { 'main.js': '' };
  addPackage(folder, 'part', { files });
  addPackage(folder, 'part', { files, version: '2.0.0' });
  addPackage(folder, 'one', { files, dependencies: { part: '^1.0.0' } });
  addPackage(folder, 'two', { files, dependencies: { part: '^2.0.0' } });
  const write = (dependencies: Record<string, string>): string =>
    writeAgentSkill(open.folder, {
      files: { ...FILES, 'package.json': JSON.stringify({ name: `own-${++written}`, dependencies }) },
    });
  for (const dir of [write({ one: '1', two: '1' }), write({ part: '^1.0.0', two: '1' })]) {
    addPackage(folder, 'part', { files });
    addPackage(folder, 'part', { files, version: '2.0.0' });
    const { installation } = await open.runtime.install(dir);
    const found = installation.packages['npm']?.packages ?? [];
    expect(found.filter(({ name }) => name === 'part').map(({ version }) => version)).toEqual([
      '1.0.0',
      '2.0.0',
    ]);
    for (const version of ['1.9.0', '2.9.0']) addPackage(folder, 'part', { files, version });
    rmSync(join(folder, 'cache'), { recursive: true, force: true });
    const home = mkdtempSync(join(open.folder, 'home-'));
    await using other = createRuntime({ home, cwd: open.folder });
    const again = await other.install(dir, { acceptPackages: () => true });
    expect(again.installation.packages['npm']).toEqual(installation.packages['npm']);
  }
});

test('a tree of packages that is too large is refused', async () => {
  const root = mkdtempSync(join(open.folder, 'tree-'));
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/b/c.js'), 'x'.repeat(100));
  const limits = { packages: 2, files: 3, bytes: 100 };
  await assertSmallTree(root, limits);
  await expect(assertSmallTree(root, { ...limits, files: 2 })).rejects.toThrow('more than 2 files');
  await expect(assertSmallTree(root, { ...limits, bytes: 99 })).rejects.toThrow('more than 99 bytes');
  expect(() => assertFewPackages(3, limits)).toThrow('3 packages');
  assertFewPackages(2, limits);
});
